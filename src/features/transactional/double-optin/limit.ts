// Anybody can put somebody else's address into a form: nobody is asked more than a few times.
import type { Ctx } from '../../../kernel/ctx.ts'
import { refusal } from '../../../kernel/refusal.ts'
import { listAsked, takeTurn } from './queries.ts'

/** The same words whoever the address belongs to, and whether or not it is a contact. */
export const optinLimited = refusal({
  code: 'optin_limited',
  kind: 'limited',
  message:
    'This address was asked to confirm several times already. The links it got keep working for 30 days.',
  hint: 'Wait as long as the header Retry-After says before asking again.',
  v3: { code: 'too_many_requests' },
})

const hourMs = 3_600_000
const limits = [
  { most: 3, withinMs: hourMs },
  { most: 10, withinMs: 24 * hourMs },
]
const mostOfAll = Math.max(...limits.map(({ most }) => most))
const longestMs = Math.max(...limits.map(({ withinMs }) => withinMs))

/** Those who ask at the same time take turns: none is counted by two. */
export async function refuseTooMany({ db, caller, now }: Ctx, email: string): Promise<void> {
  const of = { accountId: caller.accountId, email }
  await takeTurn(db, of)
  const since = new Date(now.getTime() - longestMs)
  const asked = await listAsked(db, of, { since, limit: mostOfAll })
  const waits = limits.map(({ most, withinMs }) => {
    const oldest = asked[most - 1]
    return oldest ? oldest.created_at.getTime() + withinMs - now.getTime() : 0
  })
  const waitMs = Math.max(...waits)
  if (waitMs > 0) throw optinLimited({ param: 'email', retryAfterSeconds: Math.ceil(waitMs / 1000) })
}

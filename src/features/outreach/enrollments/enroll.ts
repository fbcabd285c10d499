// Prospects join a sequence, thousands at a time. Whoever must not be written to stays out, with the reason.
import type { Ctx } from '../../../kernel/ctx.ts'
import { normalEmail } from '../../../kernel/email-address.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { requireIdentity } from '../identity/identity.ts'
import { setStatus } from '../sequences/queries.ts'
import { heldSequence, refuseTestKey } from '../sequences/write-sequence.ts'
import { enrollAll, type SkipReason } from './queries.ts'

export type ToEnroll = { prospectIds?: number[] | null; emails?: string[] | null }
export type Enrolled = { enrolled: number; skipped: { prospect: number | string; reason: SkipReason }[] }

export const mostAtOnce = 10_000

export async function enroll(ctx: Ctx, id: number, { prospectIds, emails }: ToEnroll): Promise<Enrolled> {
  const count = (prospectIds?.length ?? 0) + (emails?.length ?? 0)
  if (count === 0)
    throw missingParameter({ message: 'prospectIds or emails is missing', param: 'prospectIds' })
  if (count > mostAtOnce)
    throw invalidParameter({ message: `At most ${mostAtOnce} can be enrolled at once`, param: 'prospectIds' })
  const sequence = await heldSequence(ctx, id)
  await requireIdentity(ctx)
  if (sequence.status === 'stopped')
    throw invalidParameter({ message: 'A sequence that is stopped takes no more prospects', param: 'id' })
  refuseTestKey(ctx, sequence)
  if (sequence.status === 'finished' && sequence.mailbox_ids.length === 0)
    throw invalidParameter({ message: 'It has no mailbox left to send from', param: 'id' })
  const ids = new Set(prospectIds)
  const { good, bad } = readEmails(emails ?? [])
  const { accountId } = ctx.caller
  const wanted = { accountId, sequenceId: sequence.id, ids: [...ids].map(String), emails: good, at: ctx.now }
  const judged = await enrollAll(ctx.db, wanted)
  // Some may be given twice, by number and by address.
  const enrolled = new Set(judged.flatMap(({ id, reason }) => (reason === null ? [id] : []))).size
  // It had come to its end by itself, for want of anybody to write to.
  if (sequence.status === 'finished' && enrolled > 0)
    await setStatus(ctx.db, { accountId, id: sequence.id }, { status: 'running', at: ctx.now })
  const skipped = judged.flatMap(({ given, reason }) =>
    reason === null ? [] : { prospect: ids.has(Number(given)) ? Number(given) : given, reason },
  )
  return {
    enrolled,
    skipped: [...bad.map((prospect) => ({ prospect, reason: 'unknown' as const })), ...skipped],
  }
}

function readEmails(emails: string[]): { good: string[]; bad: string[] } {
  const [good, bad] = [new Set<string>(), new Set<string>()]
  for (const one of emails) {
    const email = normalEmail(one)
    if (email === undefined) bad.add(one)
    else good.add(email)
  }
  return { good: [...good], bad: [...bad] }
}

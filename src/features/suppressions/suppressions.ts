import type { Ctx } from '../../kernel/ctx.ts'
import type { Db } from '../../kernel/db.ts'
import { normalEmail } from '../../kernel/email-address.ts'
import { newUuid } from '../../kernel/id.ts'
import { pageOfRows } from '../../kernel/page.ts'
import { refusal } from '../../kernel/refusal.ts'
import { invalidParameter, notFound } from '../../kernel/refusals.ts'
import { insertSuppressions, listSaid, noteBeside } from './insert-queries.ts'
import {
  deleteSuppression,
  findOrigin,
  liftSuppressions,
  listSuppressions,
  type SuppressionRef,
  takeOver,
  touchSuppressed,
  touchUnsuppressed,
} from './queries.ts'
import { queueUnsuppression } from './upstream-queries.ts'

export const reasons = ['hard_bounce', 'soft_bounce_limit', 'complaint', 'unsubscribe', 'manual'] as const
export type Reason = (typeof reasons)[number]

/** What is kept of an erased person is all that keeps them from being written to again. */
export const erasedStays = refusal({
  code: 'conflict',
  kind: 'conflict',
  message:
    'This address belongs to somebody whose data was erased. It stays suppressed and cannot be taken off the list.',
  v3: { code: 'invalid_parameter' },
})

/** So an answer to outreach was understood. Who understands it otherwise lifts it, unless it was said again since. */
export const byReply = { reason: 'unsubscribe', source: 'outreach' } as const

type Why = { reason: Reason; source: string; messageId: string | null; at: Date }

/** True when the address was not suppressed before. */
export async function suppress(db: Db, ref: SuppressionRef, why: Why): Promise<boolean> {
  return (await suppressAll(db, [ref], why)) > 0
}

export async function suppressAll(db: Db, refs: SuppressionRef[], why: Why): Promise<number> {
  await touchUnsuppressed(db, refs, why.at)
  const added = await insertSuppressions(
    db,
    refs.map(({ accountId, email }) => ({ id: newUuid(), accountId, email, ...why })),
  )
  if (added === refs.length) return added
  if (why.source !== byReply.source) await takeOver(db, refs, byReply, why.source)
  if (why.reason === 'unsubscribe' || why.reason === 'manual') await noteBeside(db, refs, why)
  return added
}

/** To the address that a person has moved to; the old one keeps its own. */
export async function carry(db: Db, ref: SuppressionRef, to: { email: string; at: Date }): Promise<void> {
  for (const said of await listSaid(db, ref))
    await suppress(db, { ...ref, email: to.email }, { ...said, at: to.at })
}

/** True when it had come by an answer alone. */
export const liftByReply = (db: Db, ref: SuppressionRef) => lift(db, ref, [byReply.reason], byReply.source)

export async function wasSaidSince(db: Db, ref: SuppressionRef): Promise<boolean> {
  const found = await findOrigin(db, ref)
  return found !== undefined && (found.source !== byReply.source || found.reason !== byReply.reason)
}

export async function suppressByHand(ctx: Ctx, given: string) {
  const email = readParam(given)
  const why: Why = { reason: 'manual', source: 'api', messageId: null, at: ctx.now }
  const isNew = await suppress(ctx.db, { accountId: ctx.caller.accountId, email }, why)
  const [found] = await listSuppressions(ctx.db, ctx.caller.accountId, { email, limit: 1 })
  if (!found) throw new Error('a suppression just written is not there')
  return { isNew, found }
}

export async function unsuppress(ctx: Ctx, given: string): Promise<string> {
  const email = readParam(given)
  if (await lift(ctx.db, { accountId: ctx.caller.accountId, email })) return email
  const [kept] = await listSuppressions(ctx.db, ctx.caller.accountId, { email, limit: 1 })
  if (kept) throw erasedStays({ param: 'email' })
  throw notFound({
    message: `${email} is not on the suppression list.`,
    param: 'email',
    hint: 'suppression.list (GET /api/v1/suppressions) shows who is on it.',
  })
}

/** Takes an address off the list, upstream too; of these reasons and this source only, or whatever they are. */
export async function lift(
  db: Db,
  ref: SuppressionRef,
  of: readonly Reason[] = reasons,
  source?: string,
): Promise<boolean> {
  await touchSuppressed(db, ref, of)
  if ((await deleteSuppression(db, ref, of, source)) === 0) return false
  await queueUnsuppression(db, ref.email)
  return true
}

/** The same, refused where it is that of an erased person. */
export async function liftKnown(db: Db, ref: SuppressionRef, of: readonly Reason[] = reasons): Promise<void> {
  await lift(db, ref, of)
  const kept = await listSuppressions(db, ref.accountId, { email: ref.email, limit: 2 })
  if (kept.some(({ email }) => email !== ref.email)) throw erasedStays({ param: 'email' })
}

type Bounced = { email?: string; since?: Date; until?: Date }

/** Takes the addresses that bounced off the list: one of them, or those of a time. */
export async function liftBounced(ctx: Ctx, { email, since, until }: Bounced): Promise<void> {
  const of = ['hard_bounce', 'soft_bounce_limit'] as const
  const wanted = { email: email && readParam(email, 'contactEmail'), since, until, of }
  await liftSuppressions(ctx.db, ctx.caller.accountId, wanted)
}

type Wanted = { reason?: Reason; since?: string; email?: string; limit?: number; cursor?: string }

export function pageOfSuppressions(ctx: Ctx, { reason, since, email, limit = 50, cursor }: Wanted) {
  const wanted = {
    reason,
    since: since === undefined ? undefined : new Date(since),
    email: email && readParam(email),
  }
  return pageOfRows(
    ctx,
    { list: 'suppressions', filter: { reason, since, email }, limit, cursor },
    (after, most) => listSuppressions(ctx.db, ctx.caller.accountId, { ...wanted, after, limit: most }),
    ({ id }) => id,
  )
}

export function readParam(given: string, param = 'email'): string {
  const email = normalEmail(given)
  if (email !== undefined) return email
  throw invalidParameter({ message: `${param} must be an email address.`, param })
}

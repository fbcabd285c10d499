// Prospects join a sequence, thousands at a time. Whoever must not be written to stays out, with the reason.
import type { Ctx } from '../../../kernel/ctx.ts'
import { invalidParameter } from '../../../kernel/refusals.ts'
import { requireIdentity } from '../identity/identity.ts'
import { setStatus } from '../sequences/queries.ts'
import { heldSequence, refuseForeignMailboxes, refuseTestKey } from '../sequences/write-sequence.ts'
import { type GivenProspects, outcomeOf, readGiven } from './given.ts'
import { enrollAll, type SkipReason, type UnenrollSkipReason, unenrollAll } from './queries.ts'

type Skipped<Reason> = { prospect: number | string; reason: Reason }[]
export type Enrolled = { enrolled: number; skipped: Skipped<SkipReason> }

export type ToEnroll = GivenProspects & { again?: boolean | null }

export async function enroll(ctx: Ctx, id: number, { again, ...asked }: ToEnroll): Promise<Enrolled> {
  const given = readGiven(asked)
  const sequence = await heldSequence(ctx, id)
  await requireIdentity(ctx)
  if (sequence.status === 'stopped')
    throw invalidParameter({ message: 'A sequence that is stopped takes no more prospects', param: 'id' })
  refuseTestKey(ctx, sequence)
  if (sequence.status === 'finished' && sequence.mailbox_ids.length === 0)
    throw invalidParameter({ message: 'It has no mailbox left to send from', param: 'id' })
  // Into a draft nobody is written to before it is started, which is asked again then.
  if (sequence.status !== 'draft') await refuseForeignMailboxes(ctx, sequence)
  const { accountId } = ctx.caller
  const of = { accountId, sequenceId: sequence.id, at: ctx.now }
  const judged = await enrollAll(ctx.db, { ...of, ...given, again: again === true })
  const { done: enrolled, skipped } = outcomeOf(given, judged)
  // It had come to its end by itself, for want of anybody to write to.
  if (sequence.status === 'finished' && enrolled > 0)
    await setStatus(ctx.db, { accountId, id: sequence.id }, { status: 'running', at: ctx.now })
  return { enrolled, skipped }
}

export type Unenrolled = { stopped: number; skipped: Skipped<UnenrollSkipReason> }

/** The sequence ends for them here; they get nothing more of it. */
export async function unenroll(ctx: Ctx, id: number, asked: GivenProspects): Promise<Unenrolled> {
  const given = readGiven(asked)
  const sequence = await heldSequence(ctx, id)
  refuseTestKey(ctx, sequence)
  const of = { accountId: ctx.caller.accountId, sequenceId: sequence.id, at: ctx.now }
  const { done: stopped, skipped } = outcomeOf(given, await unenrollAll(ctx.db, { ...of, ...given }))
  return { stopped, skipped }
}

// What would be sent in the next days: the planner's word, asked before anything leaves.
import type { Ctx } from '../../../kernel/ctx.ts'
import type { SequenceRow } from '../sequences/queries.ts'
import { planAccount } from './plan-account.ts'
import { emailsOf } from './queries.ts'

const aheadMs = 7 * 86_400_000

export type Foreseen = { id: string; prospectId: string; step: number; mailboxId: string; at: number }

/** Of the whole horizon, in the order of time. */
export async function foresee(
  ctx: Ctx,
  { id }: SequenceRow,
): Promise<{ plan: Foreseen[]; mailboxes: Map<string, string> }> {
  const { accountId } = ctx.caller
  const wanted = { now: ctx.now, aheadMs, asIfRunning: id }
  const { planned, before, mailboxes } = await planAccount(ctx.db, accountId, wanted)
  const settled = before.map((one) => ({
    sequenceId: one.sequence_id,
    prospectId: one.prospect_id,
    step: one.next_step,
    mailboxId: one.mailbox_id,
    at: one.planned_at.getTime(),
  }))
  const plan = [...settled, ...planned]
    .filter(({ sequenceId }) => sequenceId === id)
    .map((one) => ({ ...one, id: `${String(one.at).padStart(14, '0')} ${one.prospectId.padStart(19, '0')}` }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  return { plan, mailboxes: new Map(mailboxes.map((one) => [one.id, one.email])) }
}

export async function addressesOf(ctx: Ctx, plan: Foreseen[]): Promise<Map<string, string>> {
  const ids = plan.map(({ prospectId }) => prospectId)
  return new Map((await emailsOf(ctx.db, ctx.caller.accountId, ids)).map(({ id, email }) => [id, email]))
}

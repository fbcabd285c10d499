import type { Ctx } from '../../../kernel/ctx.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { stopProspect } from '../enrollments/stop-enrollments.ts'
import type { Classification } from '../reading/classify.ts'
import { stopsOnReply } from '../sequences/queries.ts'
import { leaveAlone, takeBack } from './effects.ts'
import { findReply, type ReplyRow, updateReply } from './reply-queries.ts'

export async function readReply({ db, caller }: Ctx, id: number, options: { hold: boolean }) {
  const found = await findReply(db, { accountId: caller.accountId, id: String(id) }, options)
  if (found) return found
  throw notFound({ message: 'There is no such reply.' })
}

export type Change = { classification?: Classification | null; state?: ReplyRow['state'] }

/** What a person says it is stays, and what follows from it follows. */
export async function changeReply(ctx: Ctx, id: number, { classification, state }: Change): Promise<void> {
  const reply = await readReply(ctx, id, { hold: true })
  const ref = { accountId: ctx.caller.accountId, id: reply.id }
  const isSaid = classification !== undefined
  await updateReply(ctx.db, ref, {
    state: state ?? reply.state,
    classification: isSaid ? classification : reply.classification,
    correctedAt: isSaid ? ctx.now : null,
    suppressed: isSaid ? await correct(ctx, reply, classification) : reply.suppressed,
  })
}

/** Gives the addresses that are suppressed because of the reply from now on. */
async function correct(ctx: Ctx, reply: ReplyRow, classification: Classification | null): Promise<string[]> {
  const { accountId } = ctx.caller
  const { prospect_id: prospectId } = reply
  const emails = [reply.sender, ...(reply.prospect_email ? [reply.prospect_email] : [])]
  if (classification === 'unsubscribe') {
    const suppressed = await leaveAlone(ctx.db, { accountId, prospectId, at: ctx.now }, emails)
    return [...reply.suppressed, ...suppressed]
  }
  const { suppressed } = reply
  await takeBack(ctx.db, { accountId, id: reply.id }, { emails, suppressed, at: ctx.now })
  if (prospectId === null) return []
  if (classification === 'refusal') await stopProspect(ctx.db, { accountId, prospectId }, 'refused', ctx.now)
  // It was taken for a machine's, and is a person's answer after all.
  if (classification === 'interested' && (await stopsOnReply(ctx.db, accountId, reply.sequence_id)))
    await stopProspect(ctx.db, { accountId, prospectId }, 'replied', ctx.now)
  return []
}

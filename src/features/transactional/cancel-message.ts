// Taking back a message that waits or is held. What cannot be taken back is a conflict that says why.
import type { Ctx } from '../../kernel/ctx.ts'
import { readId } from '../../kernel/id.ts'
import { conflict } from '../../kernel/refusals.ts'
import { findMessage, type MessageRow } from '../messages/queries.ts'
import { messageUnknown, type OtherMessages } from '../messages/read-messages.ts'
import { cancelWaiting } from './v3/emails.ts'

/** Asked for again it answers the same. */
export async function cancelMessageById(others: OtherMessages, ctx: Ctx, shownId: string) {
  const id = readId('msg', shownId)
  if (id === undefined) throw messageUnknown()
  if (!(await cancelWaiting(ctx, { id }))) await refuseUncancelled(others, ctx, id)
  return { id: shownId, status: 'cancelled' as const }
}

async function refuseUncancelled(others: OtherMessages, ctx: Ctx, id: string): Promise<void> {
  const { accountId } = ctx.caller
  const found = (await findMessage(ctx.db, accountId, id)) ?? (await others.find(ctx.db, accountId, id))
  if (!found) throw messageUnknown()
  if (found.status === 'cancelled') return
  throw conflict({ ...reasonOf(found), param: 'id' })
}

function reasonOf({ status, source, campaign_id }: MessageRow) {
  if (source === 'outreach')
    return {
      message: `The message is of an outreach sequence and ${status}: it is not cancelled by itself.`,
      hint: 'POST /v3/outreach/campaigns/{id}/status pauses or stops the sequence.',
    }
  if (campaign_id !== null)
    return {
      message: `The message is of campaign ${campaign_id} and ${status}: it is not cancelled by itself.`,
      hint: `POST /api/v1/campaigns/${campaign_id}/pause interrupts the campaign, …/cancel ends it.`,
    }
  if (status !== 'queued' && status !== 'held')
    return {
      message: `The message is ${status} and cannot be cancelled.`,
      hint: 'Only a queued or held message can be cancelled.',
    }
  return {
    message: 'The message is being sent at this moment and cannot be cancelled any more.',
    hint: 'If it is not taken it is queued or held again, and can be cancelled then. GET /api/v1/messages/{id} tells.',
  }
}

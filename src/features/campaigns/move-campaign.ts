// Moves between the states of a campaign. Each is one statement that asks for the state it starts from.
import type { Ctx } from '../../kernel/ctx.ts'
import { domainOf } from '../../kernel/email-address.ts'
import { invalidParameter } from '../../kernel/refusals.ts'
import { readSettings } from '../accounts/settings/settings.ts'
import { refuseBeyondLimits, refuseWithoutRoom } from '../accounts/usage/refuse-without-room.ts'
import { refuseForeignSender } from '../accounts/usage/spend-sending.ts'
import type { CampaignRow } from './campaign-row.ts'
import { keepTotal, type Move, moveCampaign } from './queries.ts'
import { countRecipients } from './recipients-queries.ts'
import { countIn, lockWaiting } from './sending/campaign-queries.ts'
import { giveBackReserved, reserveSending } from './sending/reserve-sending.ts'
import { tellGoesOn } from './sending/tell-interrupted.ts'
import {
  countSendable,
  refuseMarketing,
  refuseUnfit,
  scheduleAt,
  sendNow,
  wrongState,
} from './start-campaign.ts'
import { copyCampaign, holdCampaign, readCampaign, refOf } from './write-campaign.ts'

const done: Record<Move, string> = {
  pause: 'paused',
  resume: 'resumed',
  cancel: 'cancelled',
  unschedule: 'made a draft again',
  archive: 'archived',
  unarchive: 'taken out of the archive',
}

export async function move(ctx: Ctx, id: number, to: Move): Promise<void> {
  if (to === 'resume') await refuseUnfitToResume(ctx, id)
  if (to === 'pause' || to === 'cancel') await countBefore(ctx, id)
  if ((await moveCampaign(ctx.db, refOf(ctx, id), to, mover(ctx))) > 0) {
    const ref = { account_id: ctx.caller.accountId, id: String(id) }
    if (to === 'resume' || to === 'cancel') await tellGoesOn(ctx.db, ref, ctx.now)
    return
  }
  const { status } = await readCampaign(ctx, id)
  throw wrongState(status, done[to])
}

/** Stopped before its recipients are written down, it goes on telling how many they are. */
async function countBefore(ctx: Ctx, id: number): Promise<void> {
  const { status, frozen_at, started_at, total, recipients } = await holdCampaign(ctx, id)
  if (status !== 'in_process' || frozen_at !== null || total !== null) return
  const counts = await countRecipients(ctx.db, ctx.caller.accountId, recipients, started_at ?? undefined)
  await keepTotal(ctx.db, refOf(ctx, id), counts.total)
}

/** Going on is sending, too: the key that asks for it must be allowed to, and what it asks for must still be there. */
async function refuseUnfitToResume(ctx: Ctx, id: number): Promise<void> {
  const campaign = await holdCampaign(ctx, id)
  if (campaign.status !== 'suspended') return
  refuseMarketing(ctx)
  if (campaign.frozen_at === null) await refuseUnfit(ctx, campaign)
  else refuseForeignSender(ctx.caller, domainOf(campaign.sender.email))
  await refuseUncountable(ctx, campaign)
}

/** What was not counted yet counts for the key that asks. */
async function refuseUncountable(ctx: Ctx, campaign: CampaignRow): Promise<void> {
  const { accountId, mode } = ctx.caller
  const ref = { account_id: accountId, id: campaign.id }
  const sending = await lockWaiting(ctx.db, ref)
  if (!sending || sending.spent_at !== null || sending.mode !== mode) return
  if (sending.started_at === null) return refuseBeyondLimits(ctx, () => countSendable(ctx, campaign))
  if (campaign.frozen_at !== null)
    return refuseWithoutRoom(ctx, (await countIn(ctx.db, ref, ['queued', 'held'])).count)
  // Before anything is locked that acceptance waits for.
  const count = await countSendable(ctx, campaign)
  // What was taken at the start may not be given back yet.
  await giveBackReserved(ctx.db, ref)
  await refuseWithoutRoom(ctx, count)
  await reserveSending(ctx, campaign.id, count)
}

const mover = ({ caller: { keyId, mode }, now }: Ctx) => ({ keyId, mode, at: now })

/** The words of the provider's status call. */
export const statusWords = [
  'suspended',
  'queued',
  'draft',
  'sent',
  'archive',
  'darchive',
  'replicate',
  'replicateTemplate',
  'cancel',
] as const

type StatusWord = (typeof statusWords)[number]

const byWord: Partial<Record<StatusWord, Move>> = {
  suspended: 'pause',
  draft: 'unschedule',
  archive: 'archive',
  darchive: 'unarchive',
  cancel: 'cancel',
}

export async function moveByWord(ctx: Ctx, id: number, word: StatusWord): Promise<void> {
  const known = byWord[word]
  if (known) return move(ctx, id, known)
  if (word === 'queued') return queue(ctx, id)
  if (word === 'replicate') {
    await copyCampaign(ctx, id)
    return
  }
  const { status } = await readCampaign(ctx, id)
  if (word === 'sent' && status === 'sent') return
  throw invalidParameter({
    message: `The campaign is ${status}; status cannot be set to ${word} by this call`,
    param: 'status',
  })
}

/** Resumes what was interrupted; a draft waits for its time. Without one it would leave at once, unconfirmed. */
async function queue(ctx: Ctx, id: number): Promise<void> {
  const campaign = await holdCampaign(ctx, id)
  if (campaign.status === 'suspended') return move(ctx, id, 'resume')
  if (campaign.status !== 'draft') throw wrongState(campaign.status, 'queued')
  if (campaign.scheduled_at) return scheduleAt(ctx, campaign, campaign.scheduled_at.toISOString())
  if ((await readSettings(ctx)).provider_compatibility) return sendNow(ctx, campaign, true)
  throw invalidParameter({
    message: 'The campaign is draft and has no scheduledAt: schedule it, or send it with sendNow',
    param: 'scheduledAt',
  })
}

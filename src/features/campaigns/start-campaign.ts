// Starting a send, at once or at a time. Here only the campaign changes; the background work sees it and goes on.
import type { Ctx } from '../../kernel/ctx.ts'
import { domainOf } from '../../kernel/email-address.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import { confirmationRequired, invalidParameter, missingParameter } from '../../kernel/refusals.ts'
import { readMoment } from '../../kernel/v3/dates.ts'
import { given } from '../../kernel/v3/lenient.ts'
import { readSettings } from '../accounts/settings/settings.ts'
import { findNoRoom, refuseBeyondLimits } from '../accounts/usage/refuse-without-room.ts'
import { refuseForeignSender } from '../accounts/usage/spend-sending.ts'
import { refuseUnverified } from '../messages/senders/verified-sender.ts'
import type { CampaignRow, Status } from './campaign-row.ts'
import { scheduleCampaign, startCampaign } from './queries.ts'
import { refuseBadTemplates, refuseIncomplete } from './read-content.ts'
import {
  type Counted,
  countRecipients,
  countWithJoining,
  type RecipientCounts,
} from './recipients-queries.ts'
import { marketingUnsupported } from './refusals.ts'
import { listsHint, refuseUnknownRecipients } from './refuse-unknown.ts'
import { reserveSending } from './sending/reserve-sending.ts'

/** The present status is named, so that the caller knows what it can do instead. */
export const wrongState = (status: Status, what: string) =>
  invalidParameter({
    message: `The campaign is ${status} and cannot be ${what}`,
    param: 'status',
    hint: 'GET /v3/emailCampaigns/{id} tells the status of a campaign.',
  })

export async function refuseUnready(ctx: Ctx, campaign: CampaignRow, what: string): Promise<void> {
  if (campaign.status !== 'draft' && campaign.status !== 'queued') throw wrongState(campaign.status, what)
  await refuseUnfit(ctx, campaign)
}

/** Refuses what could not be sent. */
export async function refuseUnfit(ctx: Ctx, campaign: CampaignRow): Promise<void> {
  refuseMarketing(ctx)
  refuseIncomplete(campaign)
  await refuseBadTemplates(campaign)
  refuseForeignSender(ctx.caller, domainOf(campaign.sender.email))
  await refuseUnverified(ctx.db, ctx.caller, campaign.sender.email)
  await refuseUnknownRecipients(ctx, campaign.recipients)
}

/** What a key in test mode sends is captured, whatever the upstream takes. */
export function refuseMarketing({ takesMarketing, caller }: Ctx): void {
  if (!takesMarketing && caller.mode === 'live') throw marketingUnsupported()
}

/** How many would get it; refuses when nobody would. */
export async function countedRecipients(ctx: Ctx, campaign: CampaignRow): Promise<Counted> {
  const { recipients } = campaign
  const counted = await countWithJoining(ctx.db, ctx.caller.accountId, recipients)
  if (counted.counts.total > 0) return counted
  const { exclusionListIds = [], exclusionSegmentIds = [] } = recipients
  const excludes = exclusionListIds.length + exclusionSegmentIds.length > 0
  throw invalidParameter({
    message: `Nobody is on the lists and segments of the campaign${excludes ? ' and not excluded by it' : ''}`,
    param: 'recipients',
    hint: listsHint,
  })
}

/** `noRoom`: why it would be refused all the same. */
export function refuseUnconfirmed(
  isConfirmed: boolean,
  { total, sendable, ...rest }: RecipientCounts,
  noRoom?: Refusal,
): void {
  if (isConfirmed) return
  const contacts = sendable === 1 ? '1 contact' : `${sendable} contacts`
  const next = noRoom ? `, but it would be refused: ${noRoom.message}` : ': send "confirm": true to go ahead.'
  const left = `${rest.suppressed} are suppressed and ${rest.unsubscribed} are unsubscribed.`
  throw confirmationRequired({
    message: `Nothing was sent. ${contacts} would get this campaign${next}`,
    param: 'confirm',
    details: [
      {
        code: 'recipients',
        message: `Of ${total} recipients ${sendable} would get it; ${left}`,
        param: 'recipients',
      },
      ...(noRoom ? [{ code: noRoom.code, message: noRoom.message, param: 'recipients' }] : []),
    ],
  })
}

export async function sendNow(ctx: Ctx, campaign: CampaignRow, isConfirmed: boolean): Promise<void> {
  await refuseUnready(ctx, campaign, 'sent')
  const counted = await countedRecipients(ctx, campaign)
  const { counts } = counted
  const { provider_compatibility } = await readSettings(ctx)
  const noRoom = await findNoRoom(ctx, counts.sendable)
  refuseUnconfirmed(isConfirmed || provider_compatibility, counts, noRoom)
  if (noRoom) throw noRoom
  await start(ctx, campaign, counted)
}

/** Whoever was counted is in time, also where the clock that put them on their list is ahead, or was until now. */
export async function start(
  ctx: Ctx,
  { id, status }: CampaignRow,
  { counts: { total, sendable }, lastJoinedAt }: Counted,
): Promise<void> {
  const { accountId, keyId, mode } = ctx.caller
  const at = lastJoinedAt && lastJoinedAt > ctx.now ? lastJoinedAt : ctx.now
  if ((await startCampaign(ctx.db, { accountId, id }, { keyId, mode, at, total })) === 0)
    throw wrongState(status, 'sent')
  await reserveSending(ctx, id, sendable)
}

export async function scheduleAt(ctx: Ctx, campaign: CampaignRow, asked: string | undefined): Promise<void> {
  const at = await refuseUnfitAt(ctx, campaign, asked)
  if ((await scheduleCampaign(ctx.db, campaignRef(ctx, campaign), ctx.caller, at)) === 0)
    throw wrongState(campaign.status, 'scheduled')
}

/** Gives the time. */
export async function refuseUnfitAt(
  ctx: Ctx,
  campaign: CampaignRow,
  asked: string | undefined,
): Promise<Date> {
  const at = readScheduledAt(ctx, asked)
  await refuseUnready(ctx, campaign, 'scheduled')
  await refuseBeyondLimits(ctx, () => countSendable(ctx, campaign))
  return at
}

export async function countSendable({ db, caller }: Ctx, { recipients }: CampaignRow): Promise<number> {
  return (await countRecipients(db, caller.accountId, recipients)).sendable
}

const campaignRef = ({ caller }: Ctx, { id }: CampaignRow) => ({ accountId: caller.accountId, id })

const pastAllowedMs = 5 * 60_000
const furthestMs = 2 * 366 * 24 * 3_600_000

/** A time without a zone is UTC. */
export function readScheduledAt({ now }: Ctx, asked: string | undefined): Date {
  const param = 'scheduledAt'
  const text = given(asked)?.trim() ?? ''
  if (text === '') throw missingParameter({ message: 'scheduledAt is missing', param })
  const at = text.length > 10 ? readMoment(text) : undefined
  if (!at) {
    const message = 'scheduledAt must be a time that exists, such as 2026-11-15T09:30:00Z'
    throw invalidParameter({ message, param })
  }
  const ahead = at.getTime() - now.getTime()
  if (ahead >= -pastAllowedMs && ahead <= furthestMs) return at
  throw invalidParameter({ message: 'scheduledAt must lie ahead, by two years at most', param })
}

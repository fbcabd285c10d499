// A move changes the campaign's row and answers; its messages follow here, a portion at a time.
import type { Db } from '../../../kernel/db.ts'
import { countIn, hasAny, lockFree, type Ref, type SendingRow } from './campaign-queries.ts'
import { eachCampaign } from './each-campaign.ts'
import {
  feedAgain,
  leaveQueueUnclaimed,
  listUnfollowed,
  markFollowed,
  markFollowedTo,
  nextSpan,
  releaseMessages,
  type SpanRow,
  type Stopping,
  stopMessages,
} from './follow-queries.ts'
import { spendCampaign, unspendCampaign } from './spend-campaign.ts'
import { tellInterrupted } from './tell-interrupted.ts'

const portion = 10_000

export const interruptedReason = 'The campaign is interrupted; resuming it releases this message.'

type Needs = { db: Db; stopping: AbortSignal }

export async function followCampaigns({ db, stopping }: Needs, now: Date): Promise<void> {
  await eachCampaign(await listUnfollowed(db), async (ref) => {
    let isMore = true
    while (isMore && !stopping.aborted) isMore = await db.transaction((tx) => followCampaign(tx, ref, now))
  })
}

/** Whether there is more to do at once. */
export async function followCampaign(tx: Db, ref: Ref, now: Date): Promise<boolean> {
  const campaign = await lockFree(tx, ref)
  if (!campaign || campaign.frozen_at === null || campaign.followed === campaign.in_force) return false
  if (campaign.in_force === 'in_process') return goOn(tx, campaign, now)
  if (campaign.in_force === 'suspended') {
    const { held_reason } = campaign
    if (held_reason !== null) await tellInterrupted(tx, ref, held_reason, now)
    return stop(tx, campaign, { from: ['queued'], to: 'held', reason: held_reason ?? interruptedReason })
  }
  if (campaign.in_force === 'cancelled')
    return stop(tx, campaign, { from: ['queued', 'held'], to: 'cancelled', reason: null })
  return false
}

async function goOn(tx: Db, campaign: SendingRow, now: Date): Promise<boolean> {
  if (campaign.spent_at === null) {
    const { count } = await countIn(tx, campaign, ['queued', 'held'])
    if (!(await spendCampaign(tx, campaign, count, now))) return false
  }
  const span = await nextSpan(tx, campaign, ['held'], portion)
  const released = await releaseMessages(tx, campaign, idsOf(span))
  if (released > 0) await feedAgain(tx, campaign)
  if (isLast(span)) await markFollowed(tx, campaign)
  else await markFollowedTo(tx, campaign, lastOf(span))
  return !isLast(span)
}

async function stop(tx: Db, campaign: SendingRow, stopping: Stopping): Promise<boolean> {
  const span = await nextSpan(tx, campaign, stopping.from, portion)
  await leaveQueueUnclaimed(tx, campaign, span)
  await stopMessages(tx, campaign, idsOf(span), stopping)
  if (!isLast(span)) {
    await markFollowedTo(tx, campaign, lastOf(span))
    return true
  }
  // What workers have claimed comes back by itself, sent or not; it is looked at again a little later.
  if ((await hasAny(tx, campaign, stopping.from)).left) await markFollowedTo(tx, campaign, null)
  else {
    if (stopping.to === 'cancelled') await unspendCampaign(tx, campaign)
    await markFollowed(tx, campaign)
  }
  return false
}

const idsOf = (span: SpanRow[]) => span.map(({ id }) => id)
const lastOf = (span: SpanRow[]) => span.at(-1)?.id ?? null
const isLast = (span: SpanRow[]) => span.length < portion

// What became of what was sent, from the counts, as the account's two filters would have it.
import type { Ctx } from '../../kernel/ctx.ts'
import { notFound } from '../../kernel/refusals.ts'
import { readSettings } from '../accounts/settings/settings.ts'
import { progressFrom } from '../campaigns/progress.ts'
import { findCampaign } from '../campaigns/queries.ts'
import { campaignsHint } from '../campaigns/refuse-unknown.ts'
import { readDomainRows } from '../messages/counts/queries.ts'
import { areDeliveriesKnown, reachedOf } from '../messages/counts/rates.ts'
import { countedBy, readCounts, readCountsBy, type Tally, tallyOf } from '../messages/counts/read-counts.ts'
import { countConversions, type RevenueRow, sumRevenue } from './queries.ts'
import type { Window } from './window.ts'

/** By the month that the messages were to leave in, the earliest first. */
export async function readCohorts(ctx: Ctx, { days }: Window) {
  const counted = countedBy(await readSettings(ctx))
  const months = await readCountsBy(ctx.db, { accountId: ctx.caller.accountId, ...days }, 'month')
  return [...months]
    .map(([month, counts]) => ({ month, tally: tallyOf(counts, counted) }))
    .filter(({ tally }) => tally.sent > 0)
    .sort((a, b) => (a.month < b.month ? -1 : 1))
    .map(({ month, tally }) => ({
      month,
      sent: tally.sent,
      delivered: tally.delivered,
      opened: tally.opens.unique,
      clicked: tally.clicks.unique,
      unsubscribed: tally.unsubscriptions,
      bounced: tally.bounced,
      complained: tally.complaints,
    }))
}

export const mostDomains = 1_000

export async function readDeliverability(ctx: Ctx, { days }: Window) {
  const rows = await readDomainRows(ctx.db, ctx.caller.accountId, days, mostDomains)
  return rows.map((row) => {
    const bounced = row.hard_bounces + row.soft_bounces
    return { ...row, delivery_rate: deliveryRate({ ...row, bounced }) }
  })
}

export type EngagementFilter = { listId?: number; tag?: string; source?: string }

export async function readEngagement(ctx: Ctx, { days }: Window, filter: EngagementFilter) {
  const listId = filter.listId === undefined ? undefined : String(filter.listId)
  const counts = await readCounts(ctx.db, { accountId: ctx.caller.accountId, ...days, ...filter, listId })
  const tally = tallyOf(counts, countedBy(await readSettings(ctx)))
  const { sent, delivered, opens, clicks, unsubscriptions, filtered } = tally
  return { sent, delivered, opens, clicks, unsubscriptions, filtered }
}

export async function readRevenue(ctx: Ctx, { days }: Window) {
  const rows = await sumRevenue(ctx.db, { accountId: ctx.caller.accountId, days })
  return rows.map((row) => ({
    campaign_id: row.campaign_id === null ? null : Number(row.campaign_id),
    campaign_name: row.campaign_name,
    ...money(row),
  }))
}

// The sum is exact; as a number it is written with the same digits.
const money = ({ amount, count, currency }: RevenueRow) => ({ amount: Number(amount), count, currency })

export async function readCampaignStats(ctx: Ctx, id: number) {
  const [accountId, campaignId] = [ctx.caller.accountId, String(id)]
  const campaign = await findCampaign(ctx.db, { accountId, id })
  if (!campaign) throw notFound({ message: `There is no campaign ${id}.`, param: 'id', hint: campaignsHint })
  const counts = await readCounts(ctx.db, { accountId, campaignIds: [campaignId] })
  const revenue = (await sumRevenue(ctx.db, { accountId, days: {}, campaignId })).map(money)
  const tally = tallyOf(counts, countedBy(await readSettings(ctx)))
  return {
    campaign_id: id,
    status: campaign.status,
    recipients: campaign.total ?? (await progressFrom(ctx.db, campaign)).total,
    sent: tally.sent,
    delivered: tally.delivered,
    hard_bounces: tally.hardBounces,
    soft_bounces: tally.softBounces,
    complaints: tally.complaints,
    unsubscriptions: tally.unsubscriptions,
    opens: tally.opens,
    clicks: tally.clicks,
    filtered: tally.filtered,
    rates: ratesOf(tally),
    revenue: revenue[0] ?? { amount: 0, count: 0, currency: null },
    revenue_by_currency: revenue,
    conversions: await countConversions(ctx.db, accountId, campaignId),
  }
}

function ratesOf(tally: Tally) {
  const { sent, bounced, opens, clicks, unsubscriptions, complaints } = tally
  const reached = reachedOf(tally)
  return {
    delivery: deliveryRate(tally),
    bounce: rateOf(bounced, sent),
    open: rateOf(opens.unique, reached),
    click: rateOf(clicks.unique, reached),
    click_to_open: rateOf(clicks.unique, opens.unique),
    unsubscription: rateOf(unsubscriptions, reached),
    complaint: rateOf(complaints, reached),
  }
}

const deliveryRate = (of: Pick<Tally, 'sent' | 'delivered' | 'bounced'>) =>
  areDeliveriesKnown(of) ? rateOf(of.delivered, of.sent) : null

/** Between 0 and 1 with four decimals; null where there is nothing to divide by. */
function rateOf(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.min(1, Math.round((part / whole) * 10_000) / 10_000)
}

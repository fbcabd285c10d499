// The provider's statistics object.
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../kernel/ctx.ts'
import { closed } from '../../kernel/schema.ts'
import { dayOf, type Range } from '../../kernel/v3/dates.ts'
import { readSettings } from '../accounts/settings/settings.ts'
import type { Grouping } from '../messages/counts/queries.ts'
import { reachedOf } from '../messages/counts/rates.ts'
import {
  type Counted,
  type Counts,
  countedBy,
  readCountsBy,
  tallyOf,
} from '../messages/counts/read-counts.ts'
import type { CampaignRow } from './campaign-row.ts'
import { type Progress, progressFrom } from './progress.ts'
import {
  type Block,
  countMirrorVisits,
  type LookedUp,
  readStatistics,
  type StatisticsRow,
} from './statistics-queries.ts'

const Figure = Type.Integer()

const figures = {
  sent: Figure,
  delivered: Figure,
  viewed: Figure,
  uniqueViews: Figure,
  clickers: Figure,
  uniqueClicks: Figure,
  hardBounces: Figure,
  softBounces: Figure,
  complaints: Figure,
  unsubscriptions: Figure,
  deferred: Figure,
  returnBounce: Figure,
  trackableViews: Figure,
  trackableViewsRate: Type.Number(),
  estimatedViews: Figure,
  opensRate: Type.Number(),
  appleMppOpens: Figure,
}

export const Figures = closed(figures)

const Seen = closed({ viewed: Figure, uniqueViews: Figure, clickers: Figure, uniqueClicks: Figure })
const ByName = Type.Record(Type.String(), Seen)

export const Statistics = closed({
  globalStats: Figures,
  campaignStats: Type.Array(closed({ listId: Figure, ...figures })),
  mirrorClick: Figure,
  remaining: Figure,
  linksStats: Type.Record(Type.String(), Figure),
  statsByDomain: Type.Record(Type.String(), Figures),
  statsByDevice: closed({
    desktop: Type.Optional(ByName),
    mobile: Type.Optional(ByName),
    tablet: Type.Optional(ByName),
    unknown: Type.Optional(ByName),
  }),
  statsByBrowser: ByName,
})

export type Statistics = Static<typeof Statistics>

export const statisticsWords = [
  'globalStats',
  'linksStats',
  'statsByDomain',
  'statsByDevice',
  'statsByBrowser',
] as const
export type StatisticsWord = (typeof statisticsWords)[number]

/** Whole campaigns and lists are kept counted; the rest is looked up in the events, all of it at once. */
async function readBlocks(ctx: Ctx, campaignIds: string[], asked: Block[]): Promise<StatisticsRow[]> {
  const { accountId } = ctx.caller
  const counted = countedBy(await readSettings(ctx))
  const blocks = asked.filter(isLookedUp)
  const rows =
    blocks.length > 0 ? await readStatistics(ctx.db, accountId, { campaignIds, blocks, counted }) : []
  for (const block of asked.filter((one) => !isLookedUp(one))) {
    const counts = await readCountsBy(ctx.db, { accountId, campaignIds }, groupings[block] ?? 'campaign')
    const kept = [...counts].map(([group, found]) => ({ ...rowOf(group, found, counted), block }))
    rows.push(...kept.filter(hasEvents))
  }
  return rows
}

const groupings: Partial<Record<Block, Grouping>> = { globalStats: 'campaign', campaignStats: 'list' }
const isLookedUp = (block: Block): block is LookedUp => groupings[block] === undefined

function rowOf(group: string, counts: Counts, counted: Counted): Omit<StatisticsRow, 'block'> {
  const [campaign_id = '', part = ''] = group.split(' ')
  const { sent, delivered, deferred, bounced, complaints, unsubscriptions, ...tally } = tallyOf(
    counts,
    counted,
  )
  return {
    ...{ campaign_id, part, sent, delivered, deferred, bounced, complaints, unsubscriptions },
    hard_bounces: tally.hardBounces,
    soft_bounces: tally.softBounces,
    opens: tally.opens.total,
    unique_opens: tally.opens.unique,
    clicks: tally.clicks.total,
    unique_clicks: tally.clicks.unique,
    proxy_opens: counts['opens.privacy_proxy'] ?? 0,
    trackable_opens: tallyOf(counts, { robots: false, proxies: false }).opens.unique,
  }
}

/** The states of messages are counted apart from lists. */
const hasEvents = ({ part, sent }: { part: string; sent: number }) => part !== '0' || sent > 0

/** Of each campaign, with the asked blocks filled and the others there but empty, as the provider does it. */
export async function statisticsOf(
  ctx: Ctx,
  campaigns: Pick<CampaignRow, 'id'>[],
  asked: readonly Block[],
): Promise<Map<string, Statistics>> {
  const campaignIds = campaigns.map(({ id }) => id)
  const found = campaignIds.length > 0 ? await readBlocks(ctx, campaignIds, [...new Set(asked)]) : []
  const rowsOf = (block: Block, id: string) =>
    found.filter((row) => row.block === block && row.campaign_id === id)
  const visits = await mirrorVisits(ctx, campaignIds)
  return new Map(
    campaignIds.map((id) => [
      id,
      { ...assembled((block) => rowsOf(block, id)), mirrorClick: visits.get(id) ?? 0 },
    ]),
  )
}

async function mirrorVisits(ctx: Ctx, campaignIds: string[]): Promise<Map<string, number>> {
  const counted = countedBy(await readSettings(ctx))
  const found = await countMirrorVisits(ctx.db, ctx.caller.accountId, campaignIds, counted)
  return new Map(found.map(({ campaign_id, visits }) => [campaign_id, visits]))
}

function assembled(rowsOf: (block: Block) => StatisticsRow[]): Statistics {
  return {
    globalStats: figuresOf(rowsOf('globalStats')[0]),
    campaignStats: rowsOf('campaignStats').map((row) => ({ listId: Number(row.part), ...figuresOf(row) })),
    mirrorClick: 0,
    remaining: 0,
    linksStats: Object.fromEntries(rowsOf('linksStats').map(({ part, clicks }) => [part, clicks])),
    statsByDomain: Object.fromEntries(rowsOf('statsByDomain').map((row) => [row.part, figuresOf(row)])),
    statsByDevice: devicesOf(rowsOf('statsByDevice')),
    statsByBrowser: Object.fromEntries(rowsOf('statsByBrowser').map((row) => [row.part, seenOf(row)])),
  }
}

const seenOf = ({ opens, unique_opens, clicks, unique_clicks }: StatisticsRow) => ({
  viewed: opens,
  uniqueViews: unique_opens,
  clickers: clicks,
  uniqueClicks: unique_clicks,
})

/** By device, and within it by system. */
function devicesOf(rows: StatisticsRow[]): Statistics['statsByDevice'] {
  const devices: Record<string, Record<string, ReturnType<typeof seenOf>>> = {}
  for (const row of rows) {
    const [device = '', system = ''] = row.part.split(/ (.*)/)
    devices[device] = { ...devices[device], [system]: seenOf(row) }
  }
  return devices
}

function figuresOf(row: Omit<StatisticsRow, 'block'> | undefined): Static<typeof Figures> {
  const reached = row ? reachedOf(row) : 0
  const rate = (count: number) => (reached === 0 ? 0 : Math.round((count * 10_000) / reached) / 100)
  return {
    sent: row?.sent ?? 0,
    delivered: row?.delivered ?? 0,
    viewed: row?.opens ?? 0,
    uniqueViews: row?.unique_opens ?? 0,
    clickers: row?.clicks ?? 0,
    uniqueClicks: row?.unique_clicks ?? 0,
    hardBounces: row?.hard_bounces ?? 0,
    softBounces: row?.soft_bounces ?? 0,
    complaints: row?.complaints ?? 0,
    unsubscriptions: row?.unsubscriptions ?? 0,
    deferred: row?.deferred ?? 0,
    returnBounce: 0,
    trackableViews: row?.trackable_opens ?? 0,
    trackableViewsRate: rate(row?.trackable_opens ?? 0),
    estimatedViews: row?.unique_opens ?? 0,
    opensRate: rate(row?.unique_opens ?? 0),
    appleMppOpens: row?.proxy_opens ?? 0,
  }
}

/** Of each campaign that was sent to a list: what became of those whom the list brought, on whole days. */
export async function statisticsOfList(ctx: Ctx, listId: string, range: Range | undefined) {
  const days = range && {
    first: dayOf(range.since),
    last: dayOf(new Date(range.until.getTime() - 1)),
  }
  const counted = countedBy(await readSettings(ctx))
  const counts = await readCountsBy(ctx.db, { accountId: ctx.caller.accountId, listId, ...days }, 'campaign')
  return [...counts]
    .filter(([campaignId]) => Number(campaignId) > 0)
    .map(([id, found]) => ({ campaignId: Number(id), stats: figuresOf(rowOf(id, found, counted)) }))
}

/** All blocks of one campaign, and how many of its messages are still to go. */
export async function wholeStatistics(
  ctx: Ctx,
  campaign: CampaignRow,
  asked: readonly Block[],
): Promise<{ statistics: Statistics; progress: Progress }> {
  const of = await statisticsOf(ctx, [campaign], asked)
  const progress = await progressFrom(ctx.db, campaign)
  const statistics = of.get(campaign.id) ?? assembled(() => [])
  return { statistics: { ...statistics, remaining: progress.queued + progress.held }, progress }
}

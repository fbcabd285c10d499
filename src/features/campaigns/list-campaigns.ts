import type { Ctx } from '../../kernel/ctx.ts'
import { invalidParameter } from '../../kernel/refusals.ts'
import { readRange } from '../../kernel/v3/dates.ts'
import { pageBySlice } from '../../kernel/v3/paging.ts'
import { mirrorUrl } from '../messages/mirror-link.ts'
import { senderIdsOf } from '../messages/senders/sender-ids.ts'
import { type CampaignFilter, countCampaigns, listCampaigns } from './queries.ts'
import type { LinkSource } from './send-test.ts'
import { showCampaign } from './show-campaign.ts'
import { type StatisticsWord, statisticsOf, wholeStatistics } from './statistics.ts'
import { type Block, blocks } from './statistics-queries.ts'
import { readCampaign } from './write-campaign.ts'

/** The filter has words of its own for what the campaigns themselves write with an underscore; both are taken. */
export const campaignStatusWords = [
  'suspended',
  'archive',
  'sent',
  'queued',
  'draft',
  'inProcess',
  'inReview',
  'in_process',
  'in_review',
  'cancelling',
  'cancelled',
] as const

const plainStatus: Record<string, string | undefined> = { inProcess: 'in_process', inReview: 'in_review' }

type Which = { statistics?: StatisticsWord; excludeHtmlContent?: boolean }

type Asked = Which & {
  type?: string
  status?: string
  startDate?: string
  endDate?: string
  limit?: number
  offset?: number
  sort?: 'asc' | 'desc'
  cursor?: string
}

const longestDays = 731

export async function pageOfCampaigns(ctx: Ctx, query: Asked, links: LinkSource) {
  const filter = filterOf(query)
  const withHtml = query.excludeHtmlContent !== true
  const { type, status, startDate, endDate } = query
  const asked = { type, status, startDate, endDate }
  const list = { name: 'v3.campaigns', filter: asked, usual: 50, most: 100 }
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
    listCampaigns(ctx.db, ctx.caller.accountId, { filter, slice, withHtml }),
  )
  const { count } = await countCampaigns(ctx.db, ctx.caller.accountId, filter)
  const statistics = await statisticsOf(ctx, rows, blocksOf(query.statistics))
  const share = await shareLinks(ctx, links)
  const senders = await senderIdsOf(
    ctx,
    rows.map(({ sender }) => sender.email),
  )
  const campaigns = rows.map((row) => {
    const own = statistics.get(row.id)
    if (!own) throw new Error('a campaign has no statistics')
    return showCampaign(row, { statistics: own, shareLink: share(row.id), senders })
  })
  return { count, campaigns, next_cursor: nextCursor }
}

function filterOf({ type, status, startDate, endDate }: Asked): CampaignFilter {
  const sent = readRange({ startDate, endDate }, longestDays)
  if (sent && status !== undefined && status !== 'sent')
    throw invalidParameter({ message: 'startDate and endDate are for status sent only', param: 'startDate' })
  return { type, status: status && (plainStatus[status] ?? status), sent }
}

const isBlock = (word: string): word is Block => blocks.some((block) => block === word)

/** The figures by list always; one more block as asked. */
function blocksOf(word: StatisticsWord | undefined): Block[] {
  return word !== undefined && isBlock(word) ? ['campaignStats', word] : ['campaignStats']
}

export async function readShown(
  ctx: Ctx,
  id: number,
  { statistics: word, excludeHtmlContent }: Which,
  links: LinkSource,
) {
  const found = await readCampaign(ctx, id)
  const { statistics, progress } = await wholeStatistics(ctx, found, ['globalStats', ...blocksOf(word)])
  const shareLink = (await shareLinks(ctx, links))(found.id)
  const row = excludeHtmlContent ? { ...found, html: '' } : found
  const senders = await senderIdsOf(ctx, [row.sender.email])
  return showCampaign(row, { statistics, progress, shareLink, senders })
}

/** The page of a campaign with nobody's data in it. */
export async function shareLinks({ caller }: Ctx, { unsubscribeKeys, baseUrl }: LinkSource) {
  const keys = await unsubscribeKeys()
  return (campaignId: string) => mirrorUrl({ keys, baseUrl }, { accountId: caller.accountId, campaignId })
}

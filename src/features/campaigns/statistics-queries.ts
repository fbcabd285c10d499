// What recipients did with campaigns, counted from their messages and events.
import type { Db } from '../../kernel/db.ts'
import { int, row, text } from '../../kernel/row.ts'
import { type Sql, sql } from '../../kernel/sql.ts'
import type { Counted } from '../messages/counts/read-counts.ts'
import { browserOf, deviceOf } from './device-queries.ts'

export const blocks = [
  'globalStats',
  'campaignStats',
  'statsByDomain',
  'linksStats',
  'statsByDevice',
  'statsByBrowser',
] as const
export type Block = (typeof blocks)[number]

export type StatisticsRow = {
  campaign_id: string
  /** What the block groups by: nothing, the list, the domain, the link, the device and system, the browser. */
  part: string
  sent: number
  delivered: number
  deferred: number
  bounced: number
  hard_bounces: number
  soft_bounces: number
  complaints: number
  unsubscriptions: number
  opens: number
  unique_opens: number
  clicks: number
  unique_clicks: number
  proxy_opens: number
  trackable_opens: number
}

const Statistics = row<StatisticsRow>({
  campaign_id: text,
  part: text,
  sent: int,
  delivered: int,
  deferred: int,
  bounced: int,
  hard_bounces: int,
  soft_bounces: int,
  complaints: int,
  unsubscriptions: int,
  opens: int,
  unique_opens: int,
  clicks: int,
  unique_clicks: int,
  proxy_opens: int,
  trackable_opens: int,
})

const parts: Record<Block, Sql> = {
  globalStats: sql`''`,
  campaignStats: sql`coalesce(m.list_id::text, '0')`,
  statsByDomain: sql`split_part(m.recipient, '@', 2)`,
  linksStats: sql`coalesce(e.data ->> 'url', '')`,
  statsByDevice: deviceOf,
  statsByBrowser: browserOf,
}

/** The events that the parts of a block are read from. What nobody opened or clicked has nothing to tell. */
function toldBy(block: Block, isOpen: Sql, isClick: Sql): Sql {
  if (block === 'linksStats') return sql`and m.seen & 63 <> 0 and ${isClick}`
  const isSeen = block === 'statsByDevice' || block === 'statsByBrowser'
  return isSeen ? sql`and m.seen & 63 <> 0 and (${isOpen} or ${isClick})` : sql``
}

type Wanted = { campaignIds: string[]; block: Block; counted: Counted }

export function readStatistics(db: Db, accountId: string, { campaignIds, block, counted }: Wanted) {
  const kind = sql`e.data ->> 'classification'`
  const byPeople = counted.robots ? sql`true` : sql`${kind} is distinct from 'robot'`
  const seen = counted.proxies ? byPeople : sql`${byPeople} and ${kind} is distinct from 'privacy_proxy'`
  const isOpen = sql`e.type = 'open' and ${seen}`
  const isClick = sql`e.type = 'click' and ${byPeople}`
  const isBounce = (type: string) =>
    sql`e.type = 'bounce' and coalesce(e.data ->> 'bounce_type', 'soft') = ${type}`
  const messagesWith = (condition: Sql) => sql`count(distinct m.id) filter (where ${condition})::int`
  const events = (condition: Sql) => sql`count(e.id) filter (where ${condition})::int`
  return db.many(
    Statistics,
    sql`
    select m.campaign_id, ${parts[block]} as part,
           ${messagesWith(sql`m.status in ('sent', 'delivered', 'failed')`)} as sent,
           ${messagesWith(sql`m.status = 'delivered'`)} as delivered,
           ${events(sql`e.type = 'deferred'`)} as deferred,
           ${messagesWith(sql`e.type = 'bounce'`)} as bounced,
           ${messagesWith(isBounce('hard'))} as hard_bounces,
           ${messagesWith(isBounce('soft'))} as soft_bounces,
           ${messagesWith(sql`e.type = 'complaint'`)} as complaints,
           ${messagesWith(sql`e.type = 'unsubscribe'`)} as unsubscriptions,
           ${events(isOpen)} as opens,
           ${messagesWith(isOpen)} as unique_opens,
           ${events(isClick)} as clicks,
           ${messagesWith(isClick)} as unique_clicks,
           ${events(sql`e.type = 'open' and ${kind} = 'privacy_proxy'`)} as proxy_opens,
           ${messagesWith(sql`e.type = 'open' and ${kind} = 'human'`)} as trackable_opens
      from messages m
      left join message_events e on e.account_id = m.account_id and e.message_id = m.id
     where m.account_id = ${accountId}
       and m.campaign_id = any(${campaignIds}::bigint[])
       ${toldBy(block, isOpen, isClick)}
     group by 1, 2
     order by 1, 2`,
  )
}

const Visits = row<{ campaign_id: string; visits: number }>({ campaign_id: text, visits: int })

/** How often recipients looked at their message as a page. */
export function countMirrorVisits(db: Db, accountId: string, campaignIds: string[], counted: Counted) {
  return db.many(
    Visits,
    sql`
    select data ->> 'campaign_id' as campaign_id, count(*)::int as visits
      from message_events
     where account_id = ${accountId}
       and type = 'mirror'
       and data ->> 'campaign_id' = any(${campaignIds}::text[])
       ${counted.robots ? sql`` : sql`and data ->> 'classification' is distinct from 'robot'`}
     group by 1`,
  )
}

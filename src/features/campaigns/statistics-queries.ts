// What recipients did with campaigns, counted from their messages and events.
import type { Db } from '../../kernel/db.ts'
import { int, json, row, text } from '../../kernel/row.ts'
import { type Sql, sql } from '../../kernel/sql.ts'
import { type Counted, clickBits, openBits } from '../messages/counts/read-counts.ts'
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

/** The others are kept counted. */
export type LookedUp = Exclude<Block, 'globalStats' | 'campaignStats'>

export type StatisticsRow = {
  block: Block
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
  block: json(),
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

type PartOf = Exclude<LookedUp, 'statsByDomain'>

/** The part that an event counts for, and which events count for it. */
const parts: Record<PartOf, { part: Sql; which: Sql }> = {
  linksStats: { part: sql`t.url`, which: sql`t.is_click` },
  statsByDevice: { part: sql`p.device`, which: sql`t.is_open or t.is_click` },
  statsByBrowser: { part: sql`p.browser`, which: sql`t.is_open or t.is_click` },
}

type Wanted = { campaignIds: string[]; blocks: LookedUp[]; counted: Counted }

// Nothing is kept counted by domain, link and program: those of a campaign to millions take longer than other questions
// may. An account has few connections for its questions at a time.
const longestMs = 60_000

/** The events of these campaigns are read once for all blocks, and every program is looked at once. */
export function readStatistics(db: Db, accountId: string, { campaignIds, blocks: asked, counted }: Wanted) {
  const arms = asked.map((block) =>
    block === 'statsByDomain' ? countDomains(accountId, campaignIds, counted) : countParts(block),
  )
  const question = sql`
    with told as materialized (
      ${toldOf(asked, counted)}
       where m.account_id = ${accountId}
         and m.campaign_id = any(${campaignIds}::bigint[])
         and ${tellers(asked)}
    ), programs as materialized (
      select p.program, ${deviceOf} as device, ${browserOf} as browser
        from (select distinct program from told where is_open or is_click) p
    )
    select block, campaign_id, part, sum(sent)::int as sent, sum(delivered)::int as delivered,
           sum(deferred)::int as deferred, sum(bounced)::int as bounced, sum(hard)::int as hard_bounces,
           sum(soft)::int as soft_bounces, sum(complaints)::int as complaints,
           sum(unsubscriptions)::int as unsubscriptions, sum(opens)::int as opens,
           sum(unique_opens)::int as unique_opens, sum(clicks)::int as clicks,
           sum(unique_clicks)::int as unique_clicks, sum(proxy_opens)::int as proxy_opens,
           sum(trackable_opens)::int as trackable_opens
      from (${arms.reduce((all, arm) => sql`${all} union all ${arm}`)}) counted
     group by 1, 2, 3
     order by 1, 2, 3`
  return db.patiently((tx) => tx.many(Statistics, question), AbortSignal.timeout(longestMs))
}

function toldOf(asked: LookedUp[], counted: Counted): Sql {
  const kind = sql`e.data ->> 'classification'`
  const byPeople = counted.robots ? sql`true` : sql`${kind} is distinct from 'robot'`
  const seen = counted.proxies ? byPeople : sql`${byPeople} and ${kind} is distinct from 'privacy_proxy'`
  const program = sql`coalesce(e.data ->> 'user_agent', e.data ->> 'classification_reason', '')`
  return sql`
      select m.campaign_id, e.message_id, split_part(m.recipient, '@', 2) as domain,
             coalesce(e.data ->> 'url', '') as url,
             ${asked.some(needsProgram) ? program : sql`''`} as program,
             e.type = 'deferred' as is_deferred,
             e.type = 'open' and ${seen} as is_open,
             e.type = 'click' and ${byPeople} as is_click,
             e.type = 'open' and ${kind} = 'privacy_proxy' as is_proxy
        from messages m
        join message_events e on e.account_id = m.account_id and e.message_id = m.id`
}

/** The events that anything is read from. What nobody opened or clicked has little to tell. */
function tellers(asked: LookedUp[]): Sql {
  if (asked.includes('statsByDomain')) return sql`e.type in ('open', 'click', 'deferred')`
  if (asked.some(needsProgram)) return sql`m.seen & 63 <> 0 and e.type in ('open', 'click')`
  return sql`m.seen & 56 <> 0 and e.type = 'click'`
}

const needsProgram = (block: LookedUp) => block === 'statsByDevice' || block === 'statsByBrowser'

/** Each message is brought down to one row a part first: so many distinct ones are slow to count otherwise. */
function countParts(block: PartOf): Sql {
  const { part, which } = parts[block]
  return sql`
    select ${block}::text as block, campaign_id, part, 0 as sent, 0 as delivered, 0 as deferred,
           0 as bounced, 0 as hard, 0 as soft, 0 as complaints, 0 as unsubscriptions, sum(opens) as opens,
           count(*) filter (where opens > 0) as unique_opens, sum(clicks) as clicks,
           count(*) filter (where clicks > 0) as unique_clicks, 0 as proxy_opens, 0 as trackable_opens
      from (select t.campaign_id, ${part} as part, count(*) filter (where t.is_open) as opens,
                   count(*) filter (where t.is_click) as clicks
              from told t
              ${needsProgram(block) ? sql`join programs p on p.program = t.program` : sql``}
             where ${which}
             group by t.message_id, 1, 2) each_message
     group by 2, 3`
}

/** How many messages is told by their states and the bits of seen, how often something happened by the events. */
function countDomains(accountId: string, campaignIds: string[], counted: Counted): Sql {
  const messagesSeen = (bits: number) => sql`count(*) filter (where m.seen & ${bits}::int <> 0)`
  return sql`
    select 'statsByDomain' as block, m.campaign_id, split_part(m.recipient, '@', 2) as part,
           count(*) filter (where m.status in ('sent', 'delivered', 'failed')) as sent,
           count(*) filter (where m.status = 'delivered') as delivered, 0 as deferred,
           ${messagesSeen(128 | 256)} as bounced, ${messagesSeen(128)} as hard, ${messagesSeen(256)} as soft,
           ${messagesSeen(512)} as complaints, ${messagesSeen(1024)} as unsubscriptions, 0 as opens,
           ${messagesSeen(openBits(counted))} as unique_opens, 0 as clicks,
           ${messagesSeen(clickBits(counted))} as unique_clicks, 0 as proxy_opens,
           ${messagesSeen(openBits({ robots: false, proxies: false }))} as trackable_opens
      from messages m
     where m.account_id = ${accountId}
       and m.campaign_id = any(${campaignIds}::bigint[])
     group by 2, 3
    union all
    select 'statsByDomain', t.campaign_id, t.domain, 0, 0, count(*) filter (where t.is_deferred), 0, 0, 0, 0, 0,
           count(*) filter (where t.is_open), 0, count(*) filter (where t.is_click), 0,
           count(*) filter (where t.is_proxy), 0
      from told t
     group by 2, 3`
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

import type { Db } from '../../../kernel/db.ts'
import { firstUuidAt } from '../../../kernel/id.ts'
import { int, json, maybe, row, text, time } from '../../../kernel/row.ts'
import { type Sql, sql, when } from '../../../kernel/sql.ts'
import type { Range } from '../../../kernel/v3/dates.ts'
import type { Counted } from '../../messages/counts/read-counts.ts'
import { hasMessageId, isTransactional } from '../../messages/queries.ts'
import type { ReportWord } from '../../transactional/v3/event-words.ts'
import { keptOfErased, reportWord } from './erased-queries.ts'

const byPeople = ({ robots }: Counted) =>
  robots ? sql`` : sql`and e.data ->> 'classification' is distinct from 'robot'`

const dayMs = 24 * 3_600_000
const idOf = (at: Date, ms: number) => firstUuidAt(at.getTime() + ms)

/**
 * Identifiers begin with the time at which a thing was written down, by which the index finds them: a message when it
 * is accepted; a day is left for clocks that differ.
 */
const writtenIn = ({ since, until }: Range) =>
  sql`and m.id >= ${idOf(since, -dayMs)} and m.id < ${idOf(until, dayMs)}`

/** As the index by time has them: what campaigns brought is not in it, but for what older versions wrote. */
const inTime = ({ since, until }: Range) => sql`
               and e.type <> 'sent'
               and e.of_campaign is not true
               and e.at >= ${since}
               and e.at < ${until}`

export type EventFilter = Range & {
  words?: ReportWord[]
  email?: string
  /** Any of them. */
  tags?: string[]
  /** Not many messages have them: they are looked up. */
  areFew?: boolean
  messageId?: string
  templateId?: number
}

/** The first tag of a message stands in its row, the others apart. */
const taggedWith = (accountId: string, tags: string[]) => sql`
  (select id from messages where account_id = ${accountId} and tag = any(${tags}::text[])
    union all
   select message_id from message_tags where account_id = ${accountId} and tag = any(${tags}::text[]))`

const ofMessage = (accountId: string, filter: EventFilter): Sql => sql`
       and ${isTransactional}
       ${when(filter.email, (email) => sql`and m.recipient = ${email}`)}
       ${when(filter.tags, (tags) => sql`and m.tags && ${tags}::text[]`)}
       ${when(
         filter.areFew ? filter.tags : undefined,
         (tags) => sql`and m.id = any(array${taggedWith(accountId, tags)})`,
       )}
       ${when(filter.messageId, (id) => sql`and ${hasMessageId(id)}`)}
       ${when(filter.templateId, (id) => sql`and m.template_id = ${id}`)}`

export type EventRow = {
  id: string
  word: ReportWord
  at: Date
  data: Record<string, unknown>
  recipient: string
  subject: string
  message_id: string
  sender: string
  tag: string | null
  template_id: string | null
}

const Event = row<EventRow>({
  id: text,
  word: json(),
  at: time,
  data: json(),
  recipient: text,
  subject: text,
  message_id: text,
  sender: text,
  tag: maybe(text),
  template_id: maybe(text),
})

type Wanted = {
  filter: EventFilter
  /** The messages are few: their events are looked up. Else the events of the time are, and their messages. */
  byMessage: boolean
  after: { at: string; id: string } | undefined
  offset: number
  limit: number
  ascending: boolean
}

const theMessage = sql`m.recipient, m.subject, m.message_id, m.sender, m.tag, m.template_id`

/** All of them: the account's filters are for what is counted. */
export function listEmailEvents(db: Db, accountId: string, wanted: Wanted) {
  const { filter, after, ascending } = wanted
  const arms = [
    ...(filter.words?.every((one) => one === 'requests') ? [] : [toldOf(accountId, wanted)]),
    ...(filter.words?.includes('requests') === false ? [] : [requestsOf(accountId, filter)]),
  ]
  return db.many(
    Event,
    sql`
    select *
      from (${arms.reduce((all, arm) => sql`${all} union all ${arm}`)}) events
     where true
       ${when(filter.words, (words) => sql`and word = any(${words}::text[])`)}
       ${when(after, ({ at, id }) =>
         ascending
           ? sql`and (at, id) > (${at}::timestamptz, ${id}::uuid)`
           : sql`and (at, id) < (${at}::timestamptz, ${id}::uuid)`,
       )}
     order by ${ascending ? sql`at, id` : sql`at desc, id desc`}
     limit ${wanted.limit}
    offset ${wanted.offset}`,
  )
}

const frequent: readonly ReportWord[] = ['requests', 'delivered', 'opened', 'loadedByProxy']

/** Those of other words are in an index of their own. */
const amongRare = (words?: ReportWord[]) =>
  words?.some((one) => frequent.includes(one)) === false
    ? sql`and e.type not in ('sent', 'delivery', 'open')`
    : sql``

function toldOf(accountId: string, { filter, byMessage }: Wanted): Sql {
  const events = sql`
    message_events e where e.account_id = ${accountId} ${inTime(filter)} ${amongRare(filter.words)}`
  if (!byMessage)
    return sql`
            select e.id, ${reportWord} as word, e.at, e.data, ${theMessage}
              from (select e.* from ${events}) e
              join messages m on m.id = e.message_id
             where m.account_id = ${accountId} ${ofMessage(accountId, filter)}`
  return sql`
            select e.id, ${reportWord} as word, e.at, e.data, ${theMessage}
              from (select m.*
                      from messages m
                     where m.account_id = ${accountId} ${ofMessage(accountId, filter)}
                    offset 0) m
             cross join lateral (select e.* from ${events} and e.message_id = m.id offset 0) e`
}

const requestsOf = (accountId: string, filter: EventFilter) => sql`
            select m.id, 'requests' as word, m.created_at as at, '{}'::jsonb as data, ${theMessage}
              from messages m
             where m.account_id = ${accountId}
               and m.created_at >= ${filter.since}
               and m.created_at < ${filter.until}
               ${writtenIn(filter)}
               ${ofMessage(accountId, filter)}`

const Count = row<{ count: number }>({ count: int })

/** How many messages a filter leaves, counted no further than the most. */
export function countOfFilter(db: Db, accountId: string, filter: EventFilter, most: number) {
  return db.one(
    Count,
    sql`
    select count(*)::int as count
      from (select 1
              from messages m
             where m.account_id = ${accountId} ${ofMessage(accountId, filter)}
             limit ${most}) found`,
  )
}

/** How many messages have one of the tags, counted no further than the most. */
export function countTagged(db: Db, accountId: string, tags: string[], most: number) {
  return db.one(
    Count,
    sql`select count(*)::int as count from (select 1 from ${taggedWith(accountId, tags)} tagged limit ${most}) found`,
  )
}

export type Counts = {
  delivered: number
  hard_bounces: number
  soft_bounces: number
  clicks: number
  unique_clicks: number
  opens: number
  unique_opens: number
  spam: number
  blocked: number
  unsubscribed: number
}

export type DayCounts = Counts & { day: string }

const CountsOfDay = row<DayCounts>({
  day: text,
  delivered: int,
  hard_bounces: int,
  soft_bounces: int,
  clicks: int,
  unique_clicks: int,
  opens: int,
  unique_opens: int,
  spam: int,
  blocked: int,
  unsubscribed: int,
})

type Of = { range: Range; tags?: string[]; areFew: boolean; byDay: boolean }

const dayOf = (at: Sql, byDay: boolean) =>
  byDay ? sql`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD')` : sql`''`

const times = (condition: Sql) => sql`count(*) filter (where ${condition})`

/**
 * One row a day, or one for all of it: what is unique over all is not the sum of the days. Each message is brought down
 * to one row first: so many distinct ones are slow to count otherwise.
 */
export function countEvents(db: Db, accountId: string, { range, tags, areFew, byDay }: Of, counted: Counted) {
  const opens = counted.proxies ? sql`word in ('opened', 'loadedByProxy')` : sql`word = 'opened'`
  return db.many(
    CountsOfDay,
    sql`
    select day, sum(delivered)::int as delivered, sum(hard_bounces)::int as hard_bounces,
           sum(soft_bounces)::int as soft_bounces, sum(clicks)::int as clicks,
           count(*) filter (where clicks > 0)::int as unique_clicks, sum(opens)::int as opens,
           count(*) filter (where opens > 0)::int as unique_opens, sum(spam)::int as spam,
           sum(blocked)::int as blocked, sum(unsubscribed)::int as unsubscribed
      from (select day, ${times(sql`word = 'delivered'`)} as delivered,
                   ${times(sql`word = 'hardBounces'`)} as hard_bounces,
                   ${times(sql`word = 'softBounces'`)} as soft_bounces, ${times(sql`word = 'clicks'`)} as clicks,
                   ${times(opens)} as opens, ${times(sql`word = 'spam'`)} as spam,
                   ${times(sql`word = 'blocked'`)} as blocked, ${times(sql`word = 'unsubscribed'`)} as unsubscribed
              from (select ${dayOf(sql`e.at`, byDay)} as day, ${reportWord} as word, e.message_id
                      from message_events e
                      join messages m on m.id = e.message_id
                     where e.account_id = ${accountId}
                       ${inTime(range)}
                       ${byPeople(counted)}
                       ${ofMessage(accountId, { ...range, tags, areFew })}
                     union all ${keptOfErased(accountId, { range, tags, byDay, counted })}) events
             group by day, message_id) each_message
     group by day`,
  )
}

const Requests = row<{ day: string; requests: number }>({ day: text, requests: int })

export function countRequests(db: Db, accountId: string, { range, tags, areFew, byDay }: Of) {
  return db.many(
    Requests,
    sql`
    select day, count(*)::int as requests
      from (select ${dayOf(sql`m.created_at`, byDay)} as day
              from messages m
             where m.account_id = ${accountId}
               and m.created_at >= ${range.since}
               and m.created_at < ${range.until}
               ${writtenIn(range)}
               ${ofMessage(accountId, { ...range, tags, areFew })}
             union all
            select day
              from (${keptOfErased(accountId, { range, tags, byDay })}) kept
             where word = 'requests') accepted
     group by day`,
  )
}

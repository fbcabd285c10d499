import type { Db } from '../../../kernel/db.ts'
import { firstUuidAt } from '../../../kernel/id.ts'
import { int, json, maybe, row, text, time } from '../../../kernel/row.ts'
import { type Sql, sql, when } from '../../../kernel/sql.ts'
import type { Range } from '../../../kernel/v3/dates.ts'
import { hasMessageId, isTransactional } from '../../messages/queries.ts'
import type { ReportWord } from '../../transactional/v3/event-words.ts'

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
            select e.id, report_word(e.type, e.data) as word, e.at, e.data, ${theMessage}
              from (select e.* from ${events}) e
              join messages m on m.id = e.message_id
             where m.account_id = ${accountId} ${ofMessage(accountId, filter)}`
  return sql`
            select e.id, report_word(e.type, e.data) as word, e.at, e.data, ${theMessage}
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

import type { Db } from '../../kernel/db.ts'
import { int, json, maybe, row, text, time } from '../../kernel/row.ts'
import { type Sql, sql, when } from '../../kernel/sql.ts'
import { idIn } from './message-id.ts'
import type { LastError, Source, Status } from './model.ts'

export type MessageRow = {
  id: string
  status: Status
  source: Source
  sender: string
  sender_name: string | null
  recipient: string
  recipient_name: string | null
  subject: string
  tag: string | null
  metadata: Record<string, string> | null
  campaign_id: string | null
  template_id: string | null
  message_id: string
  created_at: Date
  scheduled_at: Date | null
  sent_at: Date | null
  delivered_at: Date | null
  attempts: number
  last_error: LastError | null
  held_reason: string | null
}

export const MessageShape = row<MessageRow>({
  id: text,
  status: json(),
  source: json(),
  sender: text,
  sender_name: maybe(text),
  recipient: text,
  recipient_name: maybe(text),
  subject: text,
  tag: maybe(text),
  metadata: json(),
  campaign_id: maybe(text),
  template_id: maybe(text),
  message_id: text,
  created_at: time,
  scheduled_at: maybe(time),
  sent_at: maybe(time),
  delivered_at: maybe(time),
  attempts: int,
  last_error: json(),
  held_reason: maybe(text),
})

const columns = sql`
  id, status, source, sender, sender_name, recipient, recipient_name, subject, tag, metadata, campaign_id,
  template_id, message_id, created_at, scheduled_at, sent_at, delivered_at, attempts, last_error, held_reason`

export function findMessage(db: Db, accountId: string, id: string) {
  return db.maybe(
    MessageShape,
    sql`select ${columns} from messages where account_id = ${accountId} and id = ${id}`,
  )
}

export type ListFilter = { status?: Status; tag?: string; to?: string; after?: string; limit: number }

export function listMessages(db: Db, accountId: string, filter: ListFilter) {
  const { tag, limit } = filter
  const all = sql`select ${columns} from messages where account_id = ${accountId}`
  if (tag === undefined) return db.many(MessageShape, sql`${all} ${onPage(filter)}`)
  // The first tag of a message stands in its row, the others apart: both are read in the order of the page.
  return db.many(
    MessageShape,
    sql`
    select *
      from ((${all} and tag = ${tag} ${onPage(filter)})
            union all
            (${alsoTagged(accountId, tag, filter)})) found
     order by id desc
     limit ${limit}`,
  )
}

const onPage = ({ status, to, after, limit }: ListFilter, by = sql`id`) => sql`
       ${when(status, statusIs)}
       ${when(to, (one) => sql`and recipient = ${one}`)}
       ${when(after, (last) => sql`and id < ${last}`)}
     order by ${by} desc
     limit ${limit}`

/**
 * Where nothing else is rare, from the tags to their messages ("offset 0" leaves no other way): the planner would
 * rather go through all messages of the account until it had met enough, however long ago the tag was used.
 */
function alsoTagged(accountId: string, tag: string, filter: ListFilter): Sql {
  const { status, to, after } = filter
  const tagged = sql`
           (select message_id as tagged_id
              from message_tags
             where account_id = ${accountId}
               and tag = ${tag}
               ${when(after, (last) => sql`and message_id < ${last}`)}) tagged`
  if (to !== undefined || (status !== undefined && status !== 'delivered'))
    return sql`
    select ${columns} from messages join ${tagged} on tagged_id = id where account_id = ${accountId} ${onPage(filter)}`
  return sql`
    select ${columns}
      from ${tagged}
     cross join lateral (select * from messages where account_id = ${accountId} and id = tagged_id offset 0) theirs
     where true ${onPage(filter, sql`tagged_id`)}`
}

// Written out one by one: a bound parameter cannot meet the condition of the partial index.
const literalStatus = {
  queued: sql`and status = 'queued'`,
  sent: sql`and status = 'sent'`,
  delivered: sql`and status = 'delivered'`,
  failed: sql`and status = 'failed'`,
  suppressed: sql`and status = 'suppressed'`,
  held: sql`and status = 'held'`,
  cancelled: sql`and status = 'cancelled'`,
}

const statusIs = (status: Status) => literalStatus[status]

export type EventRow = { id: string; type: string; at: Date; data: Record<string, unknown> }

export const EventShape = row<EventRow>({ id: text, type: text, at: time, data: json() })

export function listEvents(db: Db, accountId: string, messageId: string) {
  return db.many(
    EventShape,
    sql`
    select id, type, at, data
      from message_events
     where account_id = ${accountId}
       and message_id = ${messageId}
     order by at, id`,
  )
}

/** Of all accounts: for the health report. */
const Depth = row<{ depth: number; oldest_s: number | null }>({ depth: int, oldest_s: maybe(int) })

export function queueDepth(db: Db) {
  return db.one(
    Depth,
    sql`
    -- all accounts: the health of the whole service
    select count(*)::int as depth,
           extract(epoch from now() - least(
             min(due_at) filter (where due_at <= now()),
             -- Of the first ones those that are not meant for later: they wait for their next try.
             (select min(greatest(m.created_at, m.scheduled_at))
                from (select message_id from delivery_queue order by message_id limit 1000) first
                join messages m on m.id = first.message_id
               where greatest(m.created_at, m.scheduled_at) <= now())))::int as oldest_s
      from delivery_queue`,
  )
}

/**
 * Of rows of messages `m`: what transactional webhooks tell of is in the reports and the log too. Neither campaigns,
 * nor mail about one to its authors.
 */
export const isTransactional = sql`m.source <> 'campaign'`

/** For rows of messages `m`; that of its own row needs no index. */
export function hasMessageId(messageId: string): Sql {
  const id = idIn(messageId)
  const isFound = sql`m.message_id = ${messageId} and not names_itself(m.id, m.message_id)`
  return id === undefined ? isFound : sql`(m.id = ${id} and m.message_id = ${messageId} or ${isFound})`
}

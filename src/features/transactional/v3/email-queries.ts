// The log of sent mail, and what is still to be sent.

import type { Db } from '../../../kernel/db.ts'
import { bool, bytes, int, json, maybe, row, text, texts, time } from '../../../kernel/row.ts'
import { type Sql, sql, when } from '../../../kernel/sql.ts'
import type { Range } from '../../../kernel/v3/dates.ts'
import type { Slice } from '../../../kernel/v3/paging.ts'
import type { Status } from '../../messages/model.ts'
import { hasMessageId, isTransactional } from '../../messages/queries.ts'

export type EmailRow = {
  id: string
  recipient: string
  subject: string
  message_id: string
  template_id: string | null
  sender: string
  tags: string[] | null
  created_at: Date
}

const Email = row<EmailRow>({
  id: text,
  recipient: text,
  subject: text,
  message_id: text,
  template_id: maybe(text),
  sender: text,
  tags: maybe(texts),
  created_at: time,
})

export type EmailFilter = {
  email?: string
  messageId?: string
  templateId?: number
  since?: Date
  until?: Date
}

const matching = (accountId: string, filter: EmailFilter) => sql`
      from messages m
     where account_id = ${accountId}
       and ${isTransactional}
       ${when(filter.email, (email) => sql`and recipient = ${email}`)}
       ${when(filter.messageId, (id) => sql`and ${hasMessageId(id)}`)}
       ${when(filter.templateId, (id) => sql`and template_id = ${id}`)}
       ${when(filter.since, (since) => sql`and created_at >= ${since}`)}
       ${when(filter.until, (until) => sql`and created_at < ${until}`)}`

export function listEmails(db: Db, accountId: string, filter: EmailFilter, slice: Slice) {
  return db.many(
    Email,
    sql`
    select id, recipient, subject, message_id, template_id, sender, tags, created_at
       ${matching(accountId, filter)}
       ${when(slice.after, (after) => (slice.ascending ? sql`and id > ${after}` : sql`and id < ${after}`))}
     order by ${slice.ascending ? sql`id` : sql`id desc`}
     limit ${slice.limit}
    offset ${slice.offset}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countEmails(db: Db, accountId: string, filter: EmailFilter) {
  return db.one(Count, sql`select count(*)::int as count ${matching(accountId, filter)}`)
}

export type EmailBodyRow = {
  id: string
  recipient: string
  subject: string
  template_id: string | null
  created_at: Date
  body: string
  attachments: number
  /** Of a message of the relay: all of it, as it came. */
  raw: Buffer | null
}

const EmailBody = row<EmailBodyRow>({
  id: text,
  recipient: text,
  subject: text,
  template_id: maybe(text),
  created_at: time,
  body: text,
  attachments: int,
  raw: maybe(bytes),
})

export function findEmailBody(db: Db, accountId: string, id: string) {
  return db.maybe(
    EmailBody,
    sql`
    select m.id, m.recipient, m.subject, m.template_id, m.created_at,
           coalesce(b.parts ->> 'html', b.parts ->> 'text', '') as body,
           (select count(*)::int from message_attachments a where a.message_id = m.id) as attachments, b.raw
      from messages m
      left join message_bodies b on b.message_id = m.id
     where m.account_id = ${accountId}
       and m.id = ${id}`,
  )
}

export type ScheduledRef = { messageId: string } | { batchId: string }
/** `id`: one copy, as the own namespace names it. */
export type CancelRef = ScheduledRef | { id: string }

const isOf = (which: ScheduledRef): Sql =>
  'batchId' in which ? sql`m.batch_id = ${which.batchId}` : hasMessageId(which.messageId)

export type CancelledRow = { key_id: string; accepted_on: Date; count: number }

const Cancelled = row<CancelledRow>({ key_id: text, accepted_on: time, count: int })

/**
 * What a worker has claimed counts one more try in the queue than in its message; one that waits, for its time or for
 * its next try, counts the same in both.
 */
const isUnclaimed = sql`q.attempts = m.attempts`

const isNamed = (which: CancelRef): Sql =>
  'id' in which
    ? sql`m.id = ${which.id} and m.campaign_id is null`
    : sql`m.scheduled_at is not null and ${isOf(which)}`

/**
 * Takes one message that waits, or what was given a time, off the queue; tells how many of which key and day. What a
 * worker has claimed stays; the lock of the claim is waited for.
 */
export function cancelQueued(db: Db, accountId: string, which: CancelRef) {
  return db.many(
    Cancelled,
    sql`
    with taken as (
      delete from delivery_queue q
       using messages m
       where m.account_id = ${accountId}
         and q.message_id = m.id
         and m.status in ('queued', 'held')
         and ${isUnclaimed}
         and ${isNamed(which)}
      returning q.message_id),
    cancelled as (
      update messages m
         set status = 'cancelled', held_reason = null
        from taken t
       where m.account_id = ${accountId}
         and m.id = t.message_id
      returning m.key_id, m.created_at)
    select key_id, date_trunc('day', created_at, 'UTC') as accepted_on, count(*)::int as count
      from cancelled
     group by 1, 2
     order by 1, 2`,
  )
}

const Scheduled = row<ScheduledRow>({ id: text, status: json(), created_at: time, scheduled_at: time })

export type ScheduledRow = { id: string; status: Status; created_at: Date; scheduled_at: Date }

export type ScheduledFilter = { which: ScheduledRef; statuses?: Status[]; range?: Range }

const scheduled = (accountId: string, which: ScheduledRef) => sql`
              from messages m
             where account_id = ${accountId}
               and scheduled_at is not null
               and ${isOf(which)}`

/** The first copy of each message that was given a time; its state is that of the first that may be read. */
const firsts = (accountId: string, { which, statuses, range }: ScheduledFilter) => sql`
      from (select distinct on (message_id) first_value(m.id) over (partition by message_id order by m.id) as id,
                   status, created_at, scheduled_at
                   ${scheduled(accountId, which)}
             order by message_id, status = 'suppressed', m.id) firsts
     where true
       ${when(statuses, (wanted) => sql`and status = any(${wanted}::text[])`)}
       ${when(range, ({ since, until }) => sql`and created_at >= ${since} and created_at < ${until}`)}`

export function listScheduled(db: Db, accountId: string, filter: ScheduledFilter, slice: Slice) {
  return db.many(
    Scheduled,
    sql`
    select id, status, created_at, scheduled_at
       ${firsts(accountId, filter)}
       ${when(slice.after, (after) => (slice.ascending ? sql`and id > ${after}` : sql`and id < ${after}`))}
     order by ${slice.ascending ? sql`id` : sql`id desc`}
     limit ${slice.limit}
    offset ${slice.offset}`,
  )
}

export function countScheduled(db: Db, accountId: string, filter: ScheduledFilter) {
  return db.one(Count, sql`select count(*)::int as count ${firsts(accountId, filter)}`)
}

const Known = row<{ is_known: boolean }>({ is_known: bool })

export function isScheduled(db: Db, accountId: string, which: ScheduledRef) {
  return db.one(Known, sql`select exists (select 1 ${scheduled(accountId, which)}) as is_known`)
}

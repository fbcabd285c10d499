import type { Db } from '../../kernel/db.ts'
import { bool, int, json, maybe, row, text, time } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { codeSubject } from '../senders/codes.ts'

const Used = row<{ domain: string; messages: number }>({ domain: text, messages: int })

/** Of the newest so many messages since the day that left, or are to leave, in live mode. */
export function countSenderDomains(db: Db, accountId: string, of: { newest: number; since: string }) {
  return db.many(
    Used,
    sql`
    select lower(split_part(sender, '@', -1)) as domain, count(*)::int as messages
      from (select sender, recipient, subject, mode, created_at
              from messages
             where account_id = ${accountId}
             order by id desc
             limit ${of.newest}) newest
     where mode = 'live'
       and created_at >= ${of.since}::date
       -- The code that proves an address comes from itself, where the service has no other to write as.
       and not (sender = recipient and subject = ${codeSubject})
     group by 1
     order by 2 desc, 1
     limit 50`,
  )
}

export type SentRow = { is_sent: boolean; is_delivered: boolean }

const Sent = row<SentRow>({ is_sent: bool, is_delivered: bool })

/** Whether anything ever was. */
export function findSent(db: Db, accountId: string) {
  return db.one(
    Sent,
    sql`
    select exists (select 1 from message_counts where account_id = ${accountId} and name = 'sent' and n > 0)
        or exists (select 1 from message_count_changes where account_id = ${accountId} and name = 'sent') as is_sent,
           exists (select 1 from message_counts where account_id = ${accountId} and name = 'delivered' and n > 0)
        or exists (select 1 from message_count_changes where account_id = ${accountId} and name = 'delivered')
           as is_delivered`,
  )
}

export type WaitingRow = { oldest_due: Date | null; held: number; held_reason: string | null }

const Waiting = row<WaitingRow>({ oldest_due: maybe(time), held: int, held_reason: maybe(text) })

/** Of the account: since when a message is due that nobody takes, and how many wait for somebody to act. */
export function findWaiting(db: Db, accountId: string, most: number) {
  return db.one(
    Waiting,
    sql`
    select (select min(due)
              from (select (select min(due_at)
                              from delivery_queue q
                             where q.lane = lanes.lane and q.account_id = ${accountId}) as due
                      from (values (0), (1)) as lanes (lane)) each_lane) as oldest_due,
           (select count(*)::int
              from (select 1
                      from messages
                     where account_id = ${accountId} and status = 'held' and campaign_id is null
                     limit ${most}) held) as held,
           (select held_reason
              from messages
             where account_id = ${accountId} and status = 'held' and campaign_id is null
             order by id desc
             limit 1) as held_reason`,
  )
}

export type BareCampaign = { id: string; name: string; status: string; footer: string | null }

const Bare = row<BareCampaign>({ id: text, name: text, status: text, footer: maybe(text) })

/** The newest that are not sent yet and say nowhere how to leave. */
export function listBareCampaigns(db: Db, accountId: string, newest: number) {
  return db.many(
    Bare,
    sql`
    select id, name, status, extras ->> 'footer' as footer
      from (select id, name, status, html, extras
              from campaigns
             where account_id = ${accountId} and status in ('draft', 'queued')
             order by id desc
             limit ${newest}) newest
     where (html || coalesce(extras ->> 'header', '') || coalesce(extras ->> 'footer', ''))
           !~* 'unsubscribe|preferences_url|update_profile|\\[DEFAULT_FOOTER\\]|\\{here\\}'
     order by id`,
  )
}

const Running = row<{ id: string; name: string }>({ id: text, name: text })

export function listRunningCampaigns(db: Db, accountId: string, most: number) {
  return db.many(
    Running,
    sql`
    select id, name
      from campaigns
     where account_id = ${accountId} and in_force = 'in_process'
     order by id desc
     limit ${most}`,
  )
}

export type Reply = { class: string | null; code: string | null; message: string; count: number }

const Replies = row<{ domain: string; replies: Reply[] }>({ domain: text, replies: json() })

type Asked = { domains: string[]; newest: number; since: string }

/** What servers of these domains said since the day, among the newest failures of the account. */
export function listReplies(db: Db, accountId: string, of: Asked) {
  return db.many(
    Replies,
    sql`
    select domain, jsonb_agg(jsonb_build_object('class', class, 'code', code, 'message', message, 'count', n)
                             order by n desc) as replies
      from (select split_part(recipient, '@', -1) as domain, last_error ->> 'code' as class,
                   last_error ->> 'enhanced_code' as code,
                   min(left(last_error ->> 'message', 300)) as message, count(*)::int as n
              from (select recipient, last_error, created_at
                      from messages
                     where account_id = ${accountId} and status = 'failed'
                     order by id desc
                     limit ${of.newest}) newest
             where split_part(recipient, '@', -1) = any(${of.domains}::text[])
               and last_error is not null
               and created_at >= ${of.since}::date
             group by 1, 2, 3
             order by 5 desc
             limit 50) counted
     group by 1`,
  )
}

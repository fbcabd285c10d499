import type { Db } from '../../../kernel/db.ts'
import { bytes, int, json, maybe, row, text, time } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'
import type { Slice } from '../../../kernel/v3/paging.ts'
import type { ServerSettings } from './credentials.ts'
import { firstDay } from './ramp-queries.ts'

export type MailboxRow = {
  id: string
  email: string
  name: string
  smtp: ServerSettings
  imap: ServerSettings
  sealed: Buffer
  daily_limit: number
  ramp_from: Date | null
  first_day: string | null
  state: 'active' | 'paused'
  paused_reason: string | null
  smtp_failures: number
  smtp_error: string | null
  imap_failures: number
  imap_error: string | null
  last_sync_at: Date | null
  created_at: Date
  modified_at: Date
}

const shape = {
  id: text,
  email: text,
  name: text,
  smtp: json<ServerSettings>(),
  imap: json<ServerSettings>(),
  sealed: bytes,
  daily_limit: int,
  ramp_from: maybe(time),
  first_day: maybe(text),
  state: text as never,
  paused_reason: maybe(text),
  smtp_failures: int,
  smtp_error: maybe(text),
  imap_failures: int,
  imap_error: maybe(text),
  last_sync_at: maybe(time),
  created_at: time,
  modified_at: time,
}

type Counts = { sent_today: number; sent: number; bounced: number; complained: number }
export type ListedMailbox = MailboxRow & Counts

const Listed = row<ListedMailbox>({ ...shape, sent_today: int, sent: int, bounced: int, complained: int })

const columns = sql`
  m.id, m.email, m.name, m.smtp, m.imap, m.sealed, m.daily_limit, m.ramp_from, ${firstDay} as first_day, m.state,
  m.paused_reason, m.smtp_failures, m.smtp_error, m.imap_failures, m.imap_error, m.last_sync_at, m.created_at,
  m.modified_at`

export type Days = { today: string; since: string }

/** With the counts of today and of the last days. */
const withCounts = ({ today, since }: Days) => sql`
    select ${columns}, d.sent_today, d.sent, d.bounced, d.complained
      from outreach_mailboxes m
     cross join lateral (
           select coalesce(sum(sent + answered) filter (where day = ${today}::date), 0)::int as sent_today,
                  coalesce(sum(sent + refused), 0)::int as sent, coalesce(sum(bounced), 0)::int as bounced,
                  coalesce(sum(complained), 0)::int as complained
             from outreach_mailbox_days
            where account_id = m.account_id and mailbox_id = m.id and day > ${since}::date) d`

export function listMailboxes(db: Db, accountId: string, days: Days, slice: Slice) {
  const beyond = (after: string) => (slice.ascending ? sql`and m.id > ${after}` : sql`and m.id < ${after}`)
  return db.many(
    Listed,
    sql`${withCounts(days)}
     where m.account_id = ${accountId}
       ${when(slice.after, beyond)}
     order by ${slice.ascending ? sql`m.id` : sql`m.id desc`}
     limit ${slice.limit}
    offset ${slice.offset}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countMailboxes(db: Db, accountId: string) {
  return db.one(
    Count,
    sql`select count(*)::int as count from outreach_mailboxes where account_id = ${accountId}`,
  )
}

export function findMailbox(db: Db, accountId: string, id: number, days: Days) {
  return db.maybe(Listed, sql`${withCounts(days)} where m.account_id = ${accountId} and m.id = ${id}`)
}

const Id = row<{ id: string }>({ id: text })

/** Which of these the account has. */
export function findMailboxIds(db: Db, accountId: string, ids: number[]) {
  return db.many(
    Id,
    sql`select id from outreach_mailboxes where account_id = ${accountId} and id = any(${ids}::bigint[])`,
  )
}

const Email = row<{ email: string }>({ email: text })

export function findMailboxEmails(db: Db, accountId: string, ids: string[]) {
  return db.many(
    Email,
    sql`
    select email from outreach_mailboxes
     where account_id = ${accountId} and id = any(${ids}::bigint[])
     order by id`,
  )
}

/** Nobody else changes it until the transaction ends. */
export function lockMailbox(db: Db, accountId: string, id: number) {
  return db.run(sql`
    select id from outreach_mailboxes where account_id = ${accountId} and id = ${id} for no key update`)
}

/** Whether it is there, and then until the transaction ends. */
export async function holdMailbox(db: Db, accountId: string, id: string): Promise<boolean> {
  const found = await db.maybe(
    Id,
    sql`
    select id from outreach_mailboxes where account_id = ${accountId} and id = ${id} for key share`,
  )
  return found !== undefined
}

export type MailboxFields = {
  email: string
  name: string
  smtp: ServerSettings
  imap: ServerSettings
  sealed: Buffer
  dailyLimit: number
  rampFrom: Date | null
}

/** Nothing when there is one of this address. */
export function insertMailbox(db: Db, accountId: string, one: MailboxFields, at: Date) {
  return db.maybe(
    Id,
    sql`
    insert into outreach_mailboxes
      (account_id, email, name, smtp, imap, sealed, daily_limit, ramp_from, created_at, modified_at)
    values (${accountId}, ${one.email}, ${one.name}, ${JSON.stringify(one.smtp)}, ${JSON.stringify(one.imap)},
            ${one.sealed}, ${one.dailyLimit}, ${one.rampFrom}, ${at}, ${at})
    on conflict (account_id, email) do nothing
    returning id`,
  )
}

export function updateMailbox(db: Db, accountId: string, id: string, change: MailboxFields & { at: Date }) {
  return db.run(sql`
    update outreach_mailboxes
       set name = ${change.name}, smtp = ${JSON.stringify(change.smtp)}, imap = ${JSON.stringify(change.imap)},
           sealed = ${change.sealed}, daily_limit = ${change.dailyLimit}, ramp_from = ${change.rampFrom},
           modified_at = ${change.at}
     where account_id = ${accountId} and id = ${id}`)
}

/** What went wrong before is forgotten with a resumption: its servers are tried again. */
export async function setState(
  db: Db,
  accountId: string,
  id: string,
  { state, at }: { state: string; at: Date },
): Promise<void> {
  const reason = state === 'paused' ? 'manual' : null
  if (state === 'active')
    await db.run(sql`
    update outreach_watches set login_failures = 0, next_try_at = ${at}
     where account_id = ${accountId} and mailbox_id = ${id}`)
  await db.run(sql`
    update outreach_mailboxes
       set state = ${state}, paused_reason = ${reason}, modified_at = ${at},
           smtp_failures = case when ${state} = 'active' then 0 else smtp_failures end,
           smtp_error = case when ${state} = 'active' then null else smtp_error end,
           imap_failures = case when ${state} = 'active' then 0 else imap_failures end,
           imap_error = case when ${state} = 'active' then null else imap_error end
     where account_id = ${accountId} and id = ${id} and state <> ${state}`)
}

export async function deleteMailbox(db: Db, accountId: string, id: string): Promise<void> {
  await db.run(sql`
    update outreach_sequences
       set mailbox_ids = array_remove(mailbox_ids, ${id}::bigint)
     where account_id = ${accountId} and ${id}::bigint = any(mailbox_ids)`)
  await db.run(sql`delete from outreach_mailboxes where account_id = ${accountId} and id = ${id}`)
}

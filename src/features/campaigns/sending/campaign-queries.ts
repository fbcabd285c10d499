// The campaigns that background work looks at, and the moves that it makes itself.
import type { Db } from '../../../kernel/db.ts'
import { bool, int, json, maybe, row, text, time } from '../../../kernel/row.ts'
import { type Sql, sql } from '../../../kernel/sql.ts'
import type { AbTest } from '../campaign-row.ts'
import type { Warmed, Warmup } from './warm-up.ts'

export type Ref = { account_id: string; id: string }

export const Ref = row<Ref>({ account_id: text, id: text })

/** Turns those whose time has come into running ones; gives how many. */
export function startDue(db: Db, now: Date) {
  return db.run(sql`
    -- all accounts: the job serves them all
    update campaigns
       set status = 'in_process', started_at = ${now}
     where id in (select id
                    from campaigns
                   where status = 'queued' and scheduled_at <= ${now}
                   order by scheduled_at
                   limit 100
                     for update skip locked)`)
}

/** Before every message. */
export const firstOfAll = '00000000-0000-0000-0000-000000000000'

export type SendingRow = Ref & {
  in_force: string
  key_id: string
  mode: string
  daily_cap: number | null
  held_reason: string | null
  ab_test: AbTest | null
  winner: 'A' | 'B' | null
  started_at: Date | null
  modified_at: Date
  frozen_at: Date | null
  spent_at: Date | null
  followed: string | null
  followed_to: string | null
  fed_to: string | null
  warmup: Warmup | null
  warmed: Warmed | null
}

const Sending = row<SendingRow>({
  account_id: text,
  id: text,
  in_force: text,
  key_id: text,
  mode: text,
  daily_cap: maybe(int),
  held_reason: maybe(text),
  ab_test: json(),
  winner: json(),
  started_at: maybe(time),
  modified_at: time,
  frozen_at: maybe(time),
  spent_at: maybe(time),
  followed: maybe(text),
  followed_to: maybe(text),
  fed_to: maybe(text),
  warmup: json(),
  warmed: json(),
})

const columns = sql`
  c.account_id, c.id, c.in_force, c.key_id, c.mode, k.daily_cap, c.held_reason, c.ab_test, c.winner, c.started_at,
  c.modified_at, c.frozen_at, c.spent_at, c.followed, c.followed_to, c.fed_to, c.warmed,
  case when c.extras @> '{"ipWarmupEnable": true}' then c.extras end as warmup`

/**
 * The campaign's turn: whoever changes the state of its messages in bulk, or puts them into the queue, has this first
 * and asks for the messages in a later statement. Nothing when somebody else has it.
 */
export const lockFree = (db: Db, ref: Ref) => lock(db, ref, sql`skip locked`)

/** The same, waiting for it. */
export const lockWaiting = (db: Db, ref: Ref) => lock(db, ref, sql``)

function lock(db: Db, { account_id, id }: Ref, waiting: Sql) {
  return db.maybe(
    Sending,
    sql`
    select ${columns}
      from campaigns c
      join api_keys k on k.account_id = c.account_id and k.id = c.key_id
     where c.account_id = ${account_id}
       and c.id = ${id}
       for update of c ${waiting}`,
  )
}

/** Interrupts a campaign that cannot go on, and says why. */
export function suspend(db: Db, { account_id, id }: Ref, reason: string) {
  return db.run(sql`
    update campaigns
       set status = 'suspended', held_reason = ${reason}
     where account_id = ${account_id}
       and id = ${id}`)
}

/** Whom it is for is not known until somebody says so anew. */
export function forgetTotal(db: Db, { account_id, id }: Ref) {
  return db.run(sql`update campaigns set total = null where account_id = ${account_id} and id = ${id}`)
}

export function markSpent(db: Db, { account_id, id }: Ref, at: Date) {
  return db.run(sql`
    update campaigns
       set spent_at = ${at}, held_reason = null
     where account_id = ${account_id}
       and id = ${id}`)
}

export function markUnspent(db: Db, { account_id, id }: Ref) {
  return db.run(sql`update campaigns set spent_at = null where account_id = ${account_id} and id = ${id}`)
}

const Count = row<{ count: number }>({ count: int })

export function countIn(db: Db, { account_id, id }: Ref, statuses: string[]) {
  return db.one(
    Count,
    sql`
    select count(*)::int as count
      from messages
     where account_id = ${account_id}
       and campaign_id = ${id}
       and status = any(${statuses}::text[])`,
  )
}

/** Campaigns of which nothing seems to be left. */
export function listFinished(db: Db) {
  return db.many(
    Ref,
    sql`
    -- all accounts: the job serves them all
    select account_id, id
      from campaigns c
     where c.in_force = 'in_process'
       and c.followed = 'in_process'
       and c.spent_at is not null
       and not exists (select 1
                         from messages m
                        where m.account_id = c.account_id and m.campaign_id = c.id and m.status = 'held')
       and not exists (select 1
                         from messages m
                        where m.account_id = c.account_id and m.campaign_id = c.id and m.status = 'queued')
     order by c.id`,
  )
}

const Left = row<{ left: boolean }>({ left: bool })

/** Whether any message of the campaign is in one of these states. */
export function hasAny(db: Db, { account_id, id }: Ref, statuses: string[]) {
  return db.one(
    Left,
    sql`
    select exists (select 1
                     from messages
                    where account_id = ${account_id}
                      and campaign_id = ${id}
                      and status = any(${statuses}::text[])) as left`,
  )
}

export function markSent(db: Db, { account_id, id }: Ref, at: Date) {
  return db.run(sql`
    update campaigns
       set status = 'sent', sent_at = ${at}
     where account_id = ${account_id}
       and id = ${id}
       and status = 'in_process'`)
}

import type { Db } from '../kernel/db.ts'
import { bool, bytes, int, row, text } from '../kernel/row.ts'
import { sql } from '../kernel/sql.ts'

export const windowSeconds = 60

export type RateAsk = { accountId: string; operation: string; wanted: number; allowed: number }
export type RateRow = {
  account_id: string
  operation: string
  granted: number
  /** How many requests of the last minute were granted, these included. */
  used: number
  /** In how many seconds the first of them leaves the window. */
  oldest: number
}

const Rate = row<RateRow>({ account_id: text, operation: text, granted: int, used: int, oldest: int })

/**
 * Takes what is left of each sliding minute, in one statement. The row lock makes it exact across processes;
 * rows are taken in key order so that two batches cannot wait for each other. The clock is the database's,
 * because the processes' clocks may differ. The sixty buckets are looked at only when a new second has begun, and say
 * nothing where that clock has been set back past them.
 */
export function takeRates(db: Db, asks: RateAsk[]) {
  const column = <K extends keyof RateAsk>(name: K) => asks.map((ask) => ask[name])
  return db.many(
    Rate,
    sql`
    insert into rate_windows as w (account_id, operation, second, wanted, allowed, granted, used, oldest, buckets)
    select a.account_id, a.operation, floor(extract(epoch from clock_timestamp()))::bigint, a.wanted, a.allowed,
           least(a.wanted, a.allowed), least(a.wanted, a.allowed), ${windowSeconds},
           array_fill(0, array[${windowSeconds - 1}::int]) || least(a.wanted, a.allowed)
      from unnest(${column('accountId')}::bigint[], ${column('operation')}::text[],
                  ${column('wanted')}::int[], ${column('allowed')}::int[])
           as a (account_id, operation, wanted, allowed)
     order by a.account_id, a.operation
    on conflict (account_id, operation) do update
       set (second, wanted, allowed, granted, used, oldest, buckets) = (
             select s.second, excluded.wanted, excluded.allowed, g.granted, s.used + g.granted, s.oldest,
                    s.buckets[1:${windowSeconds - 1}] || s.buckets[${windowSeconds}] + g.granted
               from (select case when excluded.second < w.second - ${windowSeconds} then ${windowSeconds}
                                 else least(excluded.second - w.second, ${windowSeconds})::int end as gone) t
              cross join lateral (
                    select w.second, w.used, w.oldest, w.buckets
                     where t.gone <= 0
                     union all
                    select excluded.second, k.used, k.oldest, p.kept
                      from (select w.buckets[1 + t.gone:${windowSeconds}]
                                   || array_fill(0, array[t.gone]) as kept) p
                     cross join lateral (
                           select sum(b)::int as used,
                                  coalesce(min(n) filter (where b > 0), ${windowSeconds})::smallint as oldest
                             from unnest(p.kept) with ordinality as u (b, n)) k
                     where t.gone > 0) s
              cross join lateral (select least(excluded.wanted,
                                               greatest(excluded.allowed - s.used, 0))::int as granted) g)
    returning account_id, operation, granted, used, oldest`,
  )
}

export function deleteIdleRates(db: Db) {
  return db.run(sql`
    delete from rate_windows
     where second < extract(epoch from clock_timestamp())::bigint - ${10 * windowSeconds}`)
}

export type IdempotencyRef = { accountId: string; operation: string; key: string }

const Locked = row<{ locked: boolean }>({ locked: bool })

/** Held until the transaction ends, also when that is because the process died. Never waits. */
export function lockIdempotencyKeys(db: Db, refs: IdempotencyRef[]) {
  const names = refs.map(({ accountId, operation, key }) => JSON.stringify([accountId, operation, key]))
  return db.many(
    Locked,
    sql`
    select pg_try_advisory_xact_lock(hashtextextended(t.name, 1)) as locked
      from unnest(${names}::text[]) with ordinality as t (name, n)
     order by t.n`,
  )
}

export type RememberedRow = {
  account_id: string
  operation: string
  key: string
  fingerprint: Buffer
  status: number
  reply: string
}

const Remembered = row<RememberedRow>({
  account_id: text,
  operation: text,
  key: text,
  fingerprint: bytes,
  status: int,
  reply: text,
})

export function findIdempotencyKeys(db: Db, refs: IdempotencyRef[], now: Date) {
  const column = <K extends keyof IdempotencyRef>(name: K) => refs.map((ref) => ref[name])
  return db.many(
    Remembered,
    sql`
    select i.account_id, i.operation, i.key, i.fingerprint, i.status, i.reply
      from unnest(${column('accountId')}::bigint[], ${column('operation')}::text[], ${column('key')}::text[])
           as r (account_id, operation, key)
      join idempotency_keys i using (account_id, operation, key)
     where i.expires_at > ${now}`,
  )
}

export type Remember = IdempotencyRef & {
  fingerprint: Buffer
  status: number
  reply: string
  expiresAt: Date
}

export function rememberReplies(db: Db, replies: Remember[]) {
  const column = <K extends keyof Remember>(name: K) => replies.map((reply) => reply[name])
  return db.runLast(sql`
    insert into idempotency_keys (account_id, operation, key, fingerprint, status, reply, expires_at)
    select *
      from unnest(${column('accountId')}::bigint[], ${column('operation')}::text[], ${column('key')}::text[],
                  ${column('fingerprint')}::bytea[], ${column('status')}::smallint[],
                  ${column('reply')}::text[], ${column('expiresAt')}::timestamptz[])
    on conflict (account_id, operation, key) do update
       set fingerprint = excluded.fingerprint, status = excluded.status, reply = excluded.reply,
           expires_at = excluded.expires_at`)
}

export function deleteExpiredIdempotencyKeys(db: Db, { before, limit }: { before: Date; limit: number }) {
  return db.run(sql`
    -- all accounts: housekeeping
    delete from idempotency_keys
     where ctid = any(array(select ctid
                              from idempotency_keys
                             where expires_at <= ${before}
                             order by expires_at
                             limit ${limit}
                               for update skip locked))`)
}

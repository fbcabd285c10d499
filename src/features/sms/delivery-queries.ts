import type { Db } from '../../kernel/db.ts'
import { int, json, maybe, row, text, time } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import type { Encoding } from './count-parts.ts'
import { optoutOf, type SmsType } from './queries.ts'

export type DueRow = {
  id: string
  account_id: string
  mode: 'live' | 'test'
  type: SmsType
  sender: string
  recipient: string
  content: string
  encoding: Encoding
  attempts: number
  /** Of the first try that was made; null before it. */
  tried_since: Date | null
  /** Since it was accepted the number has been taken off. */
  suppressed: string | null
}

const Due = row<DueRow>({
  id: text,
  account_id: text,
  mode: json(),
  type: json(),
  sender: text,
  recipient: text,
  content: text,
  encoding: json(),
  attempts: int,
  tried_since: maybe(time),
  suppressed: maybe(text),
})

type Claim = {
  limit: number
  leaseSeconds: number
  now: Date
  /** What the worker has itself: after an outage or a leap of the clock that is due too, and not to be sent again. */
  except?: string[]
}

const leased = (now: Date, seconds: number) => sql`
  due_at = ${now}::timestamptz + make_interval(secs => ${seconds}),
  claimed_until = clock_timestamp() + make_interval(secs => ${seconds})`

const freeFor = ({ now, except = [] }: Claim) => sql`
  q.due_at <= ${now} and coalesce(q.claimed_until <= clock_timestamp(), true) and q.id <> all(${except}::bigint[])`

/**
 * The same share of each account that waits, found by skipping through the index; where there are more accounts than
 * places, chance decides. A claim moves due_at behind the lease: a worker that dies gives its rows back by that alone.
 * Until then they are its own by the database's clock, whatever other workers take for the time.
 */
export function claimSms(db: Db, claim: Claim) {
  const { limit, leaseSeconds, now } = claim
  return db.many(
    Due,
    sql`
    -- all accounts: the worker serves them all
    with recursive waiting (account_id) as (
      (select account_id from sms_messages where due_at is not null order by account_id limit 1)
      union all
      select (select q.account_id
                from sms_messages q
               where q.due_at is not null and q.account_id > w.account_id
               order by q.account_id
               limit 1)
        from waiting w
       where w.account_id is not null
    ), shares as (
      select account_id, greatest(1, ${limit}::int / count(*) over ())::int as share
        from waiting
       where account_id is not null
    ), picked as (
      select d.id
        from shares s
       cross join lateral (
             select q.id
               from sms_messages q
              where q.account_id = s.account_id and ${freeFor(claim)}
              order by q.due_at
              limit s.share
                for update skip locked) d
       order by random()
       limit ${limit})
    update sms_messages m
       set attempts = m.attempts + 1, ${leased(now, leaseSeconds)}
      from picked p
     where m.id = p.id
    returning m.id, m.account_id, m.mode, m.type, m.sender, m.recipient, m.content, m.encoding, m.attempts,
              m.tried_since, (${optoutOf(sql`m.account_id`, sql`m.recipient`)}) as suppressed`,
  )
}

export type Ref = { accountId: string; id: string }

export type Taken = Ref & { upstreamId: string | null; at: Date }

/** A report may have come first: what it said stays. */
export function markSent(db: Db, { accountId, id, upstreamId, at }: Taken) {
  return db.run(sql`
    update sms_messages
       set status = case status when 'queued' then 'sent' else status end,
           upstream_id = coalesce(upstream_id, ${upstreamId}),
           sent_at = coalesce(sent_at, ${at}), due_at = null,
           last_error = case status when 'queued' then null else last_error end
     where account_id = ${accountId} and id = ${id}`)
}

export type Waiting = Ref & { at: Date; attempts: number; counted: number; dueAt: Date; error: string }

/** Unless somebody else has it by now, or a report says that it has arrived. */
export function markWaiting(db: Db, { accountId, id, at, attempts, counted, dueAt, error }: Waiting) {
  return db.run(sql`
    update sms_messages
       set due_at = ${dueAt}, attempts = ${counted}, last_error = ${error}, claimed_until = null,
           tried_since = coalesce(tried_since, ${at})
     where account_id = ${accountId}
       and id = ${id}
       and status = 'queued'
       and attempts = ${attempts}`)
}

export type Ended = Ref & { status: 'failed' | 'suppressed'; error: string }

/** True when it was still to be sent. */
export async function markEnded(db: Db, { accountId, id, status, error }: Ended): Promise<boolean> {
  const changed = await db.run(sql`
    update sms_messages
       set status = ${status}, last_error = ${error}, due_at = null
     where account_id = ${accountId}
       and id = ${id}
       and status = 'queued'`)
  return changed > 0
}

/** Claimed but not begun. */
export function releaseClaim(db: Db, { accountId, id }: Ref, now: Date) {
  return db.run(sql`
    update sms_messages
       set due_at = ${now}, attempts = attempts - 1, claimed_until = null
     where account_id = ${accountId} and id = ${id} and status = 'queued'`)
}

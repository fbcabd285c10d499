// Who has which rows of the queue. A row counts one more try with every claim: whoever comes back after the lease with
// an older count finds that it is somebody else's.
import type { Db } from '../../kernel/db.ts'
import { int, maybe, row, text, time } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

export type ClaimedRow = {
  message_id: string
  account_id: string
  attempts: number
  /** Of a campaign's: when it was put into the queue. */
  since: Date | null
}

const Claimed = row<ClaimedRow>({ message_id: text, account_id: text, attempts: int, since: maybe(time) })

type Claiming = {
  lane: number
  limit: number
  leaseSeconds: number
  /** What the worker has itself: after an outage or a leap of the clock that is due too, and not to be sent again. */
  except?: string[]
  /** Accounts that have enough here: their large messages wait for each other. */
  exceptAccounts?: string[]
}

/**
 * Claims due rows, the same share of each account: a million of one account's messages do not delay another's.
 * The accounts are found by skipping through the index, so that the cost follows the number of accounts that wait,
 * not of messages. A claim moves due_at behind the lease; a worker that dies gives its rows back by that alone.
 */
export function claimDue(db: Db, { lane, limit, leaseSeconds, except = [], exceptAccounts = [] }: Claiming) {
  return db.many(
    Claimed,
    sql`
    -- all accounts: the worker serves them all
    with recursive waiting (account_id) as (
      (select account_id from delivery_queue where lane = ${lane} order by account_id limit 1)
      union all
      select (select q.account_id
                from delivery_queue q
               where q.lane = ${lane} and q.account_id > w.account_id
               order by q.account_id
               limit 1)
        from waiting w
       where w.account_id is not null
    ), shares as (
      select account_id, greatest(1, ${limit}::int / count(*) over ())::int as share
        from waiting
       where account_id is not null and account_id <> all(${exceptAccounts}::bigint[])
    ), picked as (
      select d.message_id
        from shares s
       cross join lateral (
             select q.message_id
               from delivery_queue q
              where q.lane = ${lane}
                and q.account_id = s.account_id
                and q.due_at <= clock_timestamp()
                and q.message_id <> all(${except}::uuid[])
              order by q.due_at
              limit s.share
                for update skip locked) d
       limit ${limit})
    update delivery_queue q
       set due_at = clock_timestamp() + make_interval(secs => ${leaseSeconds}), attempts = q.attempts + 1
      from picked p
     where q.message_id = p.message_id
    returning q.message_id, q.account_id, q.attempts, q.since`,
  )
}

export type Claim = { id: string; attempts: number }

const claimed = (claims: Claim[]) => sql`
      from unnest(${claims.map(({ id }) => id)}::uuid[], ${claims.map(({ attempts }) => attempts)}::int[])
           as c (id, attempts)
     where q.message_id = c.id
       and q.attempts = c.attempts`

/** Claimed but not begun: free for any worker, and not counted as a try. */
export function releaseClaims(db: Db, claims: Claim[]) {
  return db.run(sql`
    -- all accounts: the worker serves them all
    update delivery_queue q
       set due_at = clock_timestamp(), attempts = q.attempts - 1
      ${claimed(claims)}`)
}

/** From now on for another lease; the next try of one that was put off meanwhile comes no sooner by it. */
export function renewClaims(db: Db, claims: Claim[], leaseSeconds: number) {
  return db.run(sql`
    -- all accounts: the worker serves them all
    update delivery_queue q
       set due_at = greatest(q.due_at, clock_timestamp() + make_interval(secs => ${leaseSeconds}))
      ${claimed(claims)}`)
}

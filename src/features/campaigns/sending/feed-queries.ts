// Campaign messages come into the queue a portion at a time, so that it stays as small as it works best.
import type { Db } from '../../../kernel/db.ts'
import { int, maybe, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { firstOfAll, Ref } from './campaign-queries.ts'
import type { Warmed } from './warm-up.ts'

export function listHungry(db: Db, now: Date) {
  return db.many(
    Ref,
    sql`
    -- all accounts: the job serves them all
    select account_id, id
      from campaigns c
     where c.in_force = 'in_process'
       and c.spent_at is not null
       and (c.rests_until is null or c.rests_until <= ${now})
       and exists (select 1
                     from messages m
                    where m.account_id = c.account_id
                      and m.campaign_id = c.id
                      and m.status = 'queued'
                      and m.id > coalesce(c.fed_to, ${firstOfAll}))
     order by c.id`,
  )
}

const Due = row<{ due: number }>({ due: int })

/** How many of the account's are due in the lane, counted no further than asked: what waits for a retry is not. */
export function countDue(db: Db, account_id: string, { lane, most }: { lane: number; most: number }) {
  return db.one(
    Due,
    sql`
    select count(*)::int as due
      from (select 1
              from delivery_queue
             where lane = ${lane} and account_id = ${account_id} and due_at <= clock_timestamp()
             limit ${most}) q`,
  )
}

const Fed = row<{ fed: number; last: string | null }>({ fed: int, last: maybe(text) })

export type Portion = { lane: number; limit: number; after: string | null; at: Date }

/**
 * One that is in the queue already stays there as it is. With its tries so far: a claim is told from a row that waits
 * by having counted one more.
 */
export function feed(db: Db, { account_id, id }: Ref, { lane, limit, after, at }: Portion) {
  return db.one(
    Fed,
    sql`
    with next as materialized (
      select m.id, m.attempts
        from messages m
       where m.account_id = ${account_id}
         and m.campaign_id = ${id}
         and m.status = 'queued'
         and m.id > coalesce(${after}::uuid, ${firstOfAll})
       order by m.id
       limit ${limit}),
    put as (
      insert into delivery_queue (message_id, account_id, lane, due_at, attempts, since)
      select id, ${account_id}::bigint, ${lane}::smallint, clock_timestamp(), attempts, ${at}::timestamptz from next
      on conflict (message_id) do nothing)
    select count(*)::int as fed, (select id from next order by id desc limit 1) as last from next`,
  )
}

/** Once its day's quota is fed, the campaign rests until the next. */
export function markWarmed(db: Db, { account_id, id }: Ref, warmed: Warmed, restsUntil: Date | null) {
  return db.run(sql`
    update campaigns
       set warmed = ${JSON.stringify(warmed)}, rests_until = ${restsUntil}
     where account_id = ${account_id}
       and id = ${id}`)
}

export function markFed(db: Db, { account_id, id }: Ref, last: string) {
  return db.run(sql`update campaigns set fed_to = ${last} where account_id = ${account_id} and id = ${id}`)
}

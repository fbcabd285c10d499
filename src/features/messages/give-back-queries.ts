import type { Db } from '../../kernel/db.ts'
import { int, row, text, time } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

type SpentRow = { account_id: string; key_id: string; accepted_on: Date; count: number }

const Spent = row<SpentRow>({ account_id: text, key_id: text, accepted_on: time, count: int })

/**
 * How many of the first were counted for which key and day, in the order in which whoever counts several takes them;
 * not what may have been sent. All of them and the others are locked, in the order of their ids.
 */
export function listSpent(db: Db, ids: string[], others: string[]) {
  return db.many(
    Spent,
    sql`
    -- all accounts: the worker serves them all
    with held as materialized (
      select id, account_id, key_id, campaign_id, status, unsure_tries, created_at
        from messages
       where id = any(${[...ids, ...others]}::uuid[])
       order by id
         for update)
    select account_id, key_id, date_trunc('day', created_at, 'UTC') as accepted_on, count(*)::int as count
      from held
     where id = any(${ids}::uuid[])
       and campaign_id is null
       and status in ('queued', 'held')
       and unsure_tries = 0
     group by 1, 2, 3
     order by 1, 2, 3`,
  )
}

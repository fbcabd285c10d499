// What stayed here after all counts against nobody's cap or quota.
import type { Db } from '../../kernel/db.ts'
import { int, row, text, time } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { unspend } from '../accounts/usage/spend-sending.ts'

type SpentRow = { account_id: string; key_id: string; accepted_on: Date; count: number }

const Spent = row<SpentRow>({ account_id: text, key_id: text, accepted_on: time, count: int })

/**
 * To be called before their states are written, so that each is given back once. All that the transaction goes on with
 * are locked, in the order of their ids. A campaign counts its messages together, and gives back what it cancels.
 */
export async function giveBack(db: Db, ids: string[], others: string[]): Promise<void> {
  if (ids.length === 0) return
  for (const one of await listSpent(db, ids, others)) {
    const { account_id: accountId, key_id: keyId, accepted_on, count } = one
    await unspend(db, { accountId, keyId }, count, accepted_on)
  }
}

/** By key and day, in the order in which whoever counts several takes them; not what may have been sent. */
function listSpent(db: Db, ids: string[], others: string[]) {
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

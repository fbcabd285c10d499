// Of a table that was counted while all of its rows were uncommitted the planner believes for ever that it is empty,
// however large it grows, and takes any index for as good as another: bulk work then goes wrong by factors. The server
// counts again within a minute or so; before and during bulk work such a table is counted at once.
import type { Db } from '../../kernel/db.ts'
import { row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

// What another process is counting already is left to it.
const countings = {
  contacts: sql`analyze (skip_locked) contacts -- all accounts: the planner makes no difference`,
  list_members: sql`analyze (skip_locked) list_members -- all accounts: the planner makes no difference`,
}

const Table = row<{ name: string }>({ name: text })

/** Not to be called inside a transaction: a counted table stays locked against others who count until its end. */
export async function countBelievedEmpty(db: Db): Promise<void> {
  const found = await db.many(
    Table,
    sql`
    -- all accounts: the planner makes no difference
    select relname::text as name
      from pg_class
     where oid = any(${Object.keys(countings)}::regclass[])
       and reltuples = 0
       and pg_relation_size(oid) > 0`,
  )
  for (const { name } of found) await db.run(countings[name as keyof typeof countings])
}

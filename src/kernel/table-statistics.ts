// Bulk work goes wrong by factors when the planner knows too little: of a table that was counted while all of its rows
// were uncommitted it believes for ever that it is empty, however large it grows, and takes any index for as good as
// another. The server counts again within a minute or so; such a table is counted here at once.
import type { Db } from './db.ts'
import { row, text } from './row.ts'
import { sql } from './sql.ts'

// What another process is counting already is left to it.
const countings = {
  contacts: sql`analyze (skip_locked) contacts`,
  list_members: sql`analyze (skip_locked) list_members`,
  messages: sql`analyze (skip_locked) messages`,
}

export type CountedTable = keyof typeof countings

const Stale = row<{ name: string }>({ name: text })

/** Not to be called inside a transaction: a counted table stays locked against others who count until its end. */
export async function refreshStatistics(db: Db, tables: CountedTable[]): Promise<void> {
  const stale = await db.many(
    Stale,
    sql`
    select relname::text as name
      from pg_class
     where oid = any(${tables}::regclass[])
       and reltuples = 0
       and pg_relation_size(oid) > 0`,
  )
  for (const { name } of stale) await db.run(countings[name as CountedTable])
}

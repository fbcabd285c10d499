import type { Db } from '../../kernel/db.ts'
import { row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

const Account = row<{ id: string }>({ id: text })

/** Whether each of the accounts has the module. */
export async function findModules(db: Db, accountIds: string[]): Promise<boolean[]> {
  const rows = await db.many(
    Account,
    sql`select id from accounts where id = any(${[...new Set(accountIds)]}::bigint[]) and outreach_enabled`,
  )
  const having = new Set(rows.map(({ id }) => id))
  return accountIds.map((id) => having.has(id))
}

import type { Db } from '../../kernel/db.ts'
import { databaseUnavailable } from '../../kernel/refusals.ts'
import { bool, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

const Version = row<{ version: string; read_only: boolean }>({ version: text, read_only: bool })

/** Refuses when it cannot be written to, as after a failover to one that still copies. */
export async function pingDatabase(db: Db) {
  const { version, read_only } = await db.one(
    Version,
    sql`
    select current_setting('server_version') as version, current_setting('transaction_read_only') = 'on' as read_only`,
  )
  if (read_only) throw databaseUnavailable({ message: 'The database only reads for now.' })
  return { version }
}

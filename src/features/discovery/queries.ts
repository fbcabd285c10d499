import type { Db } from '../../kernel/db.ts'
import { bool, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

const Version = row<{ version: string; read_only: boolean }>({ version: text, read_only: bool })

export function readServer(db: Db) {
  return db.one(
    Version,
    sql`
    select current_setting('server_version') as version, current_setting('transaction_read_only') = 'on' as read_only`,
  )
}

import type { Db } from '../../kernel/db.ts'
import { bool, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

type Server = { version: string; read_only: boolean; is_used: boolean }

const Server = row<Server>({ version: text, read_only: bool, is_used: bool })

/** Fails where the database has no tables of ours. */
export function readServer(db: Db) {
  return db.one(
    Server,
    sql`
    -- all accounts: about the server
    select current_setting('server_version') as version, current_setting('transaction_read_only') = 'on' as read_only,
           exists (select from accounts) as is_used`,
  )
}

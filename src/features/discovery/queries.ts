import type { Db } from '../../kernel/db.ts'
import { row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

const Version = row<{ version: string }>({ version: text })

export function pingDatabase(db: Db) {
  return db.one(Version, sql`select current_setting('server_version') as version`)
}

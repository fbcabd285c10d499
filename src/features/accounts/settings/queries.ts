import type { Db } from '../../../kernel/db.ts'
import { json, row } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { Settings } from './settings.ts'

const Changed = row<{ settings: Partial<Settings> }>({ settings: json() })

export function findSettings(db: Db, accountId: string) {
  return db.one(Changed, sql`select settings from accounts where id = ${accountId}`)
}

export function mergeSettings(db: Db, accountId: string, change: Partial<Settings>) {
  return db.one(
    Changed,
    sql`
    update accounts
       set settings = settings || ${JSON.stringify(change)}::jsonb
     where id = ${accountId}
    returning settings`,
  )
}

import type { Db } from '../../../kernel/db.ts'
import { json, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { Settings } from './settings.ts'

const Changed = row<{ settings: Partial<Settings> }>({ settings: json() })

const ChangedOf = row<{ id: string; settings: Partial<Settings> }>({ id: text, settings: json() })

export async function findSettings(db: Db, accountIds: string[]) {
  const rows = await db.many(
    ChangedOf,
    sql`
    select id, settings || jsonb_build_object('outreach_enabled', outreach_enabled) as settings
      from accounts
     where id = any(${[...new Set(accountIds)]}::bigint[])`,
  )
  const found = new Map(rows.map(({ id, settings }) => [id, settings]))
  return accountIds.map((id) => found.get(id))
}

/** Which modules an account has stands in columns of their own. */
export function mergeSettings(
  db: Db,
  accountId: string,
  { outreach_enabled: outreach, ...change }: Partial<Settings>,
) {
  return db.one(
    Changed,
    sql`
    update accounts
       set settings = settings || ${JSON.stringify(change)}::jsonb,
           outreach_enabled = coalesce(${outreach ?? null}::boolean, outreach_enabled)
     where id = ${accountId}
    returning settings || jsonb_build_object('outreach_enabled', outreach_enabled) as settings`,
  )
}

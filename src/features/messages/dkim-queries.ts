import type { Db } from '../../kernel/db.ts'
import { bytes, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

export type DkimKeyRow = { selector: string; private_key: Buffer }

const Key = row<DkimKeyRow>({ selector: text, private_key: bytes })

/** A key made for a declared domain signs only while DNS shows it. */
export function listDkimKeys(db: Db, accountId: string, domain: string) {
  return db.many(
    Key,
    sql`
    select selector, private_key
      from dkim_keys
     where account_id = ${accountId}
       and domain = ${domain}
       and signs
     order by selector`,
  )
}

import type { Db } from '../../kernel/db.ts'
import { bytes, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

export type DkimOwner = { accountId: string; domain: string }
export type DkimKeyRow = { account_id: string; domain: string; selector: string; private_key: Buffer }

const Key = row<DkimKeyRow>({ account_id: text, domain: text, selector: text, private_key: bytes })

/** Of many domains of many accounts. A key made for a declared domain signs only while DNS shows it. */
export function listDkimKeys(db: Db, owners: DkimOwner[]) {
  return db.many(
    Key,
    sql`
    select k.account_id, k.domain, k.selector, k.private_key
      from unnest(${owners.map((one) => one.accountId)}::bigint[], ${owners.map((one) => one.domain)}::text[])
           as o (account_id, domain)
      join dkim_keys k on k.account_id = o.account_id and k.domain = o.domain and k.signs
     order by k.selector`,
  )
}

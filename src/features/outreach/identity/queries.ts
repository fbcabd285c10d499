import type { Db } from '../../../kernel/db.ts'
import { row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'

export type IdentityRow = { company_name: string; postal_address: string }

const Identity = row<IdentityRow>({ company_name: text, postal_address: text })

export function findIdentity(db: Db, accountId: string) {
  return db.maybe(
    Identity,
    sql`select company_name, postal_address from outreach_identities where account_id = ${accountId}`,
  )
}

export function saveIdentity(db: Db, accountId: string, one: Partial<IdentityRow>, at: Date) {
  const [company, address] = [one.company_name ?? null, one.postal_address ?? null]
  return db.run(sql`
    insert into outreach_identities as i (account_id, company_name, postal_address, updated_at)
    values (${accountId}, coalesce(${company}::text, ''), coalesce(${address}::text, ''), ${at})
    on conflict (account_id) do update
       set company_name = coalesce(${company}::text, i.company_name),
           postal_address = coalesce(${address}::text, i.postal_address),
           updated_at = ${at}`)
}

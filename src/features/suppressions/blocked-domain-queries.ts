import type { Db } from '../../kernel/db.ts'
import { row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

const Blocked = row<{ domain: string }>({ domain: text })

export function listBlockedDomains(db: Db, accountId: string) {
  return db.many(
    Blocked,
    sql`select domain from blocked_domains where account_id = ${accountId} order by domain`,
  )
}

/** 0 when the account has its fill of them. */
export function insertBlockedDomain(
  db: Db,
  accountId: string,
  { domain, at, most }: { domain: string; at: Date; most: number },
) {
  return db.run(sql`
    insert into blocked_domains (account_id, domain, created_at)
    select ${accountId}, ${domain}, ${at}
     where (select count(*) from blocked_domains where account_id = ${accountId}) < ${most}
    on conflict (account_id, domain) do update set created_at = blocked_domains.created_at`)
}

export function deleteBlockedDomain(db: Db, accountId: string, domain: string) {
  return db.run(sql`delete from blocked_domains where account_id = ${accountId} and domain = ${domain}`)
}

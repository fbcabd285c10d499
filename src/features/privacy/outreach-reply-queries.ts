// What a person answered, and what was answered for them from another address.
import type { Db } from '../../kernel/db.ts'
import { json, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

type Who = { accountId: string; emails: string[] }

const Rows = row<{ rows: Record<string, unknown>[] }>({ rows: json() })

const isTheirs = ({ accountId, emails }: Who) => sql`
  account_id = ${accountId}
  and (sender = any(${emails}::text[])
       or prospect_id in (select id
                            from outreach_prospects
                           where account_id = ${accountId} and email = any(${emails}::text[])))`

export function exportOutreachReplies(db: Db, who: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(r) - 'account_id' - 'fingerprint' order by r.id), '[]') as rows
      from outreach_replies r
     where r.account_id = ${who.accountId} and ${isTheirs(who)}`,
  )
}

/** Before the prospect. */
export function eraseOutreachReplies(db: Db, who: Who) {
  return db.run(sql`
    delete from outreach_replies where account_id = ${who.accountId} and ${isTheirs(who)}`)
}

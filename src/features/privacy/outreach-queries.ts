// What outreach holds about one person.
import type { Db } from '../../kernel/db.ts'
import { json, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

type Who = { accountId: string; email: string | null; emails: string[] }

const Rows = row<{ rows: Record<string, unknown>[] }>({ rows: json() })

const prospectIds = ({ accountId, emails }: Who) =>
  sql`(select id from outreach_prospects where account_id = ${accountId} and email = any(${emails}::text[]))`

export function exportProspect(db: Db, { accountId, email }: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(p) - 'account_id'), '[]') as rows
      from outreach_prospects p
     where account_id = ${accountId} and email = ${email}`,
  )
}

export function exportEnrollments(db: Db, who: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(jsonb_build_object('sequence_id', e.sequence_id, 'state', e.state, 'reason', e.reason,
                                                'next_step', e.next_step + 1, 'created_at', e.created_at)
                             order by e.created_at), '[]') as rows
      from outreach_enrollments e
     where e.account_id = ${who.accountId} and e.prospect_id in ${prospectIds(who)}`,
  )
}

export function exportOutreachMessages(db: Db, { accountId, emails }: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(m) - 'account_id' - 'leased_until' order by m.id), '[]') as rows
      from outreach_messages m
     where account_id = ${accountId} and recipient = any(${emails}::text[])`,
  )
}

/** Waits for a step that is just being written, whose message is then found with the others. */
export function eraseEnrollments(db: Db, who: Who) {
  return db.run(sql`
    delete from outreach_enrollments
     where account_id = ${who.accountId} and prospect_id in ${prospectIds(who)}`)
}

export function eraseOutreachMessages(db: Db, { accountId, emails }: Who) {
  return db.run(sql`
    delete from outreach_messages where account_id = ${accountId} and recipient = any(${emails}::text[])`)
}

export function eraseProspect(db: Db, { accountId, emails }: Who) {
  return db.run(sql`
    delete from outreach_prospects where account_id = ${accountId} and email = any(${emails}::text[])`)
}

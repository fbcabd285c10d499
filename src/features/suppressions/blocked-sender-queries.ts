import type { Db } from '../../kernel/db.ts'
import { int, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import type { SuppressionRef } from './queries.ts'

export type NewBlock = { id: string; sender: string }

export function insertBlockedSenders(
  db: Db,
  { accountId, email }: SuppressionRef,
  all: NewBlock[],
  at: Date,
) {
  return db.run(sql`
    insert into blocked_senders (account_id, email, sender, id, created_at)
    select ${accountId}, ${email}, n.sender, n.id, ${at}
      from json_to_recordset(${JSON.stringify(all)}::json) as n (id uuid, sender text)
     order by n.sender
    on conflict (account_id, email, sender) do nothing`)
}

const Blocked = row<{ sender: string }>({ sender: text })

export function listBlockedSenders(db: Db, { accountId, email }: SuppressionRef) {
  return db.many(
    Blocked,
    sql`select sender from blocked_senders where account_id = ${accountId} and email = ${email} order by sender`,
  )
}

/** All but these. */
export function deleteBlockedSenders(db: Db, { accountId, email }: SuppressionRef, kept: string[] = []) {
  return db.run(sql`
    delete from blocked_senders
     where account_id = ${accountId} and email = ${email} and sender <> all(${kept}::text[])`)
}

const Counted = row<{ count: number }>({ count: int })

export function countBlockedSenders(db: Db, { accountId, email }: SuppressionRef) {
  return db.one(
    Counted,
    sql`
    select count(*)::int as count
      from blocked_senders
     where account_id = ${accountId} and email = ${email}`,
  )
}

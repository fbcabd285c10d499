import type { Db } from '../../../kernel/db.ts'
import { bool, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'

export type SenderRef = { accountId: string; email: string }

const Proven = row<{ account_id: string; email: string }>({ account_id: text, email: text })

/** Which of these addresses, in lower case, were proven to be the account's by a code. */
export function findProven(db: Db, refs: SenderRef[]) {
  return db.many(
    Proven,
    sql`
    select distinct s.account_id, lower(s.email) as email
      from senders s
      join unnest(${refs.map(({ accountId }) => accountId)}::bigint[], ${refs.map(({ email }) => email)}::text[])
           as asked (account_id, email)
        on s.account_id = asked.account_id and lower(s.email) = asked.email
     where s.proven_at is not null`,
  )
}

export type NumberedSender = { email: string; name: string; is_proven: boolean }

const Numbered = row<NumberedSender>({ email: text, name: text, is_proven: bool })

export function findSender(db: Db, accountId: string, id: number) {
  return db.maybe(
    Numbered,
    sql`
    select email, name, proven_at is not null as is_proven
      from senders
     where account_id = ${accountId}
       and id = ${id}`,
  )
}

const SenderId = row<{ email: string; id: string }>({ email: text, id: text })

/** Addresses in lower case. */
export function findSenderIds(db: Db, accountId: string, emails: string[]) {
  return db.many(
    SenderId,
    sql`
    select lower(email) as email, min(id)::text as id
      from senders
     where account_id = ${accountId}
       and lower(email) = any(${emails}::text[])
     group by lower(email)`,
  )
}

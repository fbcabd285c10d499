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

export type InactiveSender = { id: string; email: string; has_code: boolean }

const Inactive = row<InactiveSender>({ id: text, email: text, has_code: bool })

/** How long a code that was mailed to a sender can be entered. */
export const codeValidMs = 24 * 3_600_000

/** A sender of the address, in lower case; first the one whose code can still be entered. */
export function findInactive(db: Db, { accountId, email }: SenderRef) {
  return db.maybe(
    Inactive,
    sql`
    select id, email,
           code_hash is not null and tries_left > 0
           and code_sent_at > clock_timestamp() - make_interval(secs => ${codeValidMs / 1000}) as has_code
      from senders
     where account_id = ${accountId}
       and lower(email) = ${email}
     order by has_code desc, id
     limit 1`,
  )
}

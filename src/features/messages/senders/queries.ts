import type { Db } from '../../../kernel/db.ts'
import { bool, int, row, text } from '../../../kernel/row.ts'
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

/** With its domain and those above it. */
export type NamedRef = SenderRef & { names: string[] }

const Place = row<{ n: number }>({ n: int })

// One wrong answer of DNS changes nothing, however long nobody looks after it; as long as the large upstreams look for
// records.
const lapsedAfterSeconds = 72 * 3_600

/**
 * Which of these, by their places, are on a domain of others and on none of their own account, as ever shown. One that
 * the account has not proven for long, and somebody else proves now, has changed hands.
 */
export function findForeign(db: Db, refs: NamedRef[]) {
  return db.many(
    Place,
    sql`
    select r.n
      from json_to_recordset(${JSON.stringify(refs.map((ref, n) => ({ ...ref, n })))}::json)
           as r (n int, "accountId" bigint, email text, names text[])
     where exists (select 1
                     from domains d
                    where d.domain = any(r.names) and d.verified_at is not null and d.account_id <> r."accountId")
       and not exists (select 1
                         from domains d
                        where d.domain = any(r.names) and d.verified_at is not null and d.account_id = r."accountId"
                          and (d.unproven_since is null
                               or d.unproven_since > d.checked_at - make_interval(secs => ${lapsedAfterSeconds})
                               or not exists (select 1
                                                from domains o
                                               where o.domain = any(r.names) and o.account_id <> r."accountId"
                                                 and o.verified_at is not null and o.unproven_since is null)))
       and not exists (select 1
                         from senders s
                        where s.account_id = r."accountId" and lower(s.email) = r.email
                          and s.proven_at is not null)`,
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

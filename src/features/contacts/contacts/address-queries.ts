// Whose an address was, and when: messages know the address that they went to, and contacts change theirs.
import { type Sql, sql } from '../../../kernel/sql.ts'

/**
 * Every contact that had the address, and the time: from when the one before gave it up until it gave it up itself.
 * What a deleted contact had is known of nobody.
 */
function holdersOf(accountId: string, email: Sql): Sql {
  return sql`
    select contact_id, until, lag(until, 1, '-infinity'::timestamptz) over (order by until, id) as since
      from (select id as contact_id, 'infinity'::timestamptz as until, null::uuid as id
              from contacts
             where account_id = ${accountId} and email = ${email}
            union all
            select contact_id, changed_at, id
              from contact_history
             where account_id = ${accountId} and attribute = 'EMAIL' and old_value = to_jsonb(${email})) had`
}

/** The addresses of a contact, each with the time in which it was its own. */
export function addressesOf(accountId: string, contactId: Sql): Sql {
  return sql`
    select n.email, h.since, h.until
      from (select email
              from contacts
             where account_id = ${accountId} and id = ${contactId} and email is not null
             union
            select old_value #>> '{}'
              from contact_history
             where account_id = ${accountId}
               and contact_id = ${contactId}
               and attribute = 'EMAIL'
               and old_value is not null) n
     cross join lateral (${holdersOf(accountId, sql`n.email`)}) h
     where h.contact_id = ${contactId}`
}

/** Whether message m went to address o while that was its contact's. */
export const wasOwn = sql`m.recipient = o.email and m.created_at >= o.since and m.created_at < o.until`

/** Whom message m was written to, whatever their address is by now. */
export const recipientOf = (accountId: string): Sql => sql`
  select contact_id
    from (${holdersOf(accountId, sql`m.recipient`)}) h
   where m.created_at >= h.since and m.created_at < h.until`

/** The number of the contact that has the address, or that moved away from it while nobody else has it. */
export const contactOf = ({ accountId, email }: { accountId: string; email: string }): Sql => sql`
  coalesce((select id from contacts where account_id = ${accountId} and email = ${email}),
           (select contact_id
              from contact_history
             where account_id = ${accountId}
               and attribute = 'EMAIL'
               and old_value = to_jsonb(${email}::text)
             order by id desc
             limit 1))`

// A chunk of an import, one statement for all of its contacts.
import type { Db } from '../../../kernel/db.ts'
import { bool, int, json, maybe, row, text, time } from '../../../kernel/row.ts'
import { type Sql, sql } from '../../../kernel/sql.ts'
import { isUnsubscription } from '../../suppressions/queries.ts'
import { type Identifiers, numbersOf } from '../contacts/queries.ts'
import type { Consent, KnownContact } from './apply-rows.ts'

const Known = row<KnownContact>({
  id: text,
  email: maybe(text),
  ext_id: maybe(text),
  sms: maybe(text),
  status: json(),
  sms_blacklisted: bool,
  attributes: json(),
  consent_date: maybe(time),
  consent_source: maybe(text),
})

/** Locked in the order of their numbers, as every import does it. */
export function lockKnown(db: Db, accountId: string, identifiers: Identifiers) {
  return db.many(
    Known,
    sql`
    select k.*
      from (${numbersOf(accountId, identifiers)}
             order by id) f
     cross join lateral (
       select id, email, ext_id, sms, status, sms_blacklisted, attributes, consent_date, consent_source
         from contacts
        where account_id = ${accountId} and id = f.id
        limit 1
          for no key update) k`,
  )
}

export type ContactFields = Omit<KnownContact, 'id'>

const Made = row<{ id: string; email: string | null; ext_id: string | null; sms: string | null }>({
  id: text,
  email: maybe(text),
  ext_id: maybe(text),
  sms: maybe(text),
})

/** Whoever left the address has left, whichever contact comes onto it. */
const leftBefore = (accountId: string, email: Sql) => sql`
             select 'unsubscribed'
               from suppressions s
              where s.account_id = ${accountId} and s.email = ${email} and ${isUnsubscription}`

/** Gives fewer than asked for when others made one of them meanwhile. Who left before is not subscribed again. */
export function insertContacts(
  db: Db,
  { accountId, importId }: { accountId: string; importId: string },
  contacts: ContactFields[],
  at: Date,
) {
  return db.many(
    Made,
    sql`
    insert into contacts
      (account_id, email, ext_id, sms, status, sms_blacklisted, attributes, consent_date, consent_source,
       created_at, modified_at, import_id)
    select ${accountId}, n.email, n.ext_id, n.sms,
           coalesce((${leftBefore(accountId, sql`n.email`)}), n.status),
           n.sms_blacklisted, n.attributes, n.consent_date, n.consent_source, ${at}, ${at}, ${importId}
      from json_to_recordset(${JSON.stringify(contacts)}::json)
           as n (email text, ext_id text, sms text, status text, sms_blacklisted boolean, attributes jsonb,
                 consent_date timestamptz, consent_source text)
    on conflict do nothing
    returning id, email, ext_id, sms`,
  )
}

export type ContactUpdate = ContactFields & { id: string; removed: string[]; consented: boolean }

/**
 * The account stands beside each given row, not as a constant: the planner then begins with the given rows even when
 * it believes that the account has no contacts.
 *
 * A new consent takes the place of the old one whole: its address and wording were those of the old one. Who left
 * before is not subscribed again by a contact that gets their address.
 */
export function updateContacts(db: Db, accountId: string, updates: ContactUpdate[], at: Date) {
  return db.run(sql`
    update contacts c
       set email = u.email, ext_id = u.ext_id, sms = u.sms,
           status = case when u.email is distinct from c.email
                         then coalesce((${leftBefore(accountId, sql`u.email`)}), u.status)
                         else u.status end,
           sms_blacklisted = u.sms_blacklisted,
           attributes = (c.attributes - u.removed) || u.attributes,
           consent_date = u.consent_date,
           consent_source = u.consent_source,
           consent_ip = case when u.consented then null else c.consent_ip end,
           consent_text = case when u.consented then null else c.consent_text end,
           modified_at = ${at}
      from (select ${accountId}::bigint as account_id, *
              from json_to_recordset(${JSON.stringify(updates)}::json)
                   as n (id bigint, email text, ext_id text, sms text, status text, sms_blacklisted boolean,
                         attributes jsonb, removed text[], consent_date timestamptz, consent_source text,
                         consented boolean)
            offset 0) u
     where c.account_id = u.account_id
       and c.id = u.id`)
}

export type NewConsent = Consent & { id: string; contact_id: string }

export function insertConsents(
  db: Db,
  { accountId, id }: { accountId: string; id: string },
  consents: NewConsent[],
  at: Date,
) {
  return db.run(sql`
    insert into consents (account_id, contact_id, id, date, source, process_id, recorded_at)
    select ${accountId}, n.contact_id, n.id, n.date, n.source, ${id}, ${at}
      from json_to_recordset(${JSON.stringify(consents)}::json)
           as n (contact_id bigint, id uuid, date timestamptz, source text)`)
}

export type Joining = { contact_id: string; consented_at: Date | null }
type Lists = { accountId: string; listIds: string[]; isTest: boolean; at: Date }

const Count = row<{ count: number }>({ count: int })

/**
 * Puts contacts on lists, except on those that they left by their own choice and did not consent to be on since.
 * Gives how many contacts that keeps out.
 */
export async function joinLists(db: Db, { accountId, listIds, isTest, at }: Lists, joining: Joining[]) {
  const given = sql`
    (select ${accountId}::bigint as account_id, *
       from json_to_recordset(${JSON.stringify(joining)}::json) as n (contact_id bigint, consented_at timestamptz)
     offset 0) j`
  await db.run(sql`
    delete from list_unsubscriptions u
     using ${given}
     where u.account_id = j.account_id and u.contact_id = j.contact_id
       and u.list_id = any(${listIds}::bigint[]) and u.at < j.consented_at`)
  // One who left is no member either way, so what is still there keeps out.
  await db.run(sql`
    insert into list_members (account_id, list_id, contact_id, added_at, added_in_test)
    select l.account_id, l.id, j.contact_id, ${at}, ${isTest}
      from ${given}
     cross join lists l
     where l.account_id = ${accountId}
       and l.id = any(${listIds}::bigint[])
       and not exists (select 1
                         from list_unsubscriptions u
                        where u.account_id = j.account_id and u.list_id = l.id and u.contact_id = j.contact_id)
    on conflict do nothing`)
  const { count } = await db.one(
    Count,
    sql`
    select count(distinct u.contact_id)::int as count
      from list_unsubscriptions u
      join ${given} on u.account_id = j.account_id and u.contact_id = j.contact_id
     where u.list_id = any(${listIds}::bigint[])`,
  )
  return count
}

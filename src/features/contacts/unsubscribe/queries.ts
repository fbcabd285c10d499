import type { Db } from '../../../kernel/db.ts'
import { bool, json, maybe, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { Settings } from '../../accounts/settings/settings.ts'
import { contactOf } from '../contacts/address-queries.ts'

/** An address in the eyes of one account; there may be no contact of it. */
export type Person = { accountId: string; email: string }

/** Two requests about one address take turns, also where there is no row to lock. */
export function lockPerson(db: Db, { accountId, email }: Person) {
  const name = `unsubscribe ${accountId} ${email}`
  return db.run(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`)
}

/** Nobody else changes the contact until the transaction ends; whoever changes lists too begins with it. */
export function holdContactOf(db: Db, person: Person) {
  return db.run(sql`
    select 1
      from contacts
     where account_id = ${person.accountId} and id = ${contactOf(person)}
       for no key update`)
}

export type StandingRow = {
  account_name: string
  contact_id: string | null
  /** Where the contact is now; the address that was asked for when there is none. */
  address: string
  status: string | null
  suppression: string | null
  /** Where the latest change of status came from. */
  status_source: string | null
  tracking_consent: boolean | null
  /** What the account changed. */
  settings: Partial<Settings>
}

const Standing = row<StandingRow>({
  account_name: text,
  contact_id: maybe(text),
  address: text,
  status: maybe(text),
  suppression: maybe(text),
  status_source: maybe(text),
  tracking_consent: maybe(bool),
  settings: json(),
})

export function findStanding(db: Db, { accountId, email }: Person) {
  return db.maybe(
    Standing,
    sql`
    select a.name as account_name, c.id as contact_id, coalesce(c.email, ${email}) as address, c.status,
           s.reason as suppression, c.tracking_consent, a.settings,
           (select h.source
              from contact_history h
             where h.account_id = a.id and h.contact_id = c.id and h.attribute = 'STATUS'
             order by h.id desc
             limit 1) as status_source
      from accounts a
      left join contacts c on c.account_id = a.id and c.id = ${contactOf({ accountId, email })}
      left join suppressions s on s.account_id = a.id and s.email = coalesce(c.email, ${email})
     where a.id = ${accountId}`,
  )
}

const Sender = row<{ email: string; name: string | null }>({ email: text, name: maybe(text) })

/** Whom a message is from; nothing when it is gone. */
export function findSenderOf(db: Db, { accountId, messageId }: { accountId: string; messageId: string }) {
  return db.maybe(
    Sender,
    sql`
    select sender as email, nullif(sender_name, '') as name
      from messages
     where account_id = ${accountId} and id = ${messageId}`,
  )
}

export type ContactOf = { accountId: string; contactId: string }

const Changed = row<{ contact_id: string }>({ contact_id: text })

/** Of these unsubscribed contacts those that a customer blacklisted: to stop an origin stops its campaigns alone. */
export function listBlacklisted(db: Db, accountId: string, contactIds: string[]) {
  return db.many(
    Changed,
    sql`
    select n.id::text as contact_id
      from unnest(${contactIds}::bigint[]) as n (id)
     where 'origin stopped' is distinct from (
           select h.source
             from contact_history h
            where h.account_id = ${accountId} and h.contact_id = n.id and h.attribute = 'STATUS'
            order by h.id desc
            limit 1)`,
  )
}

/** The contact, when its status was another. */
export function changeStatus(db: Db, { accountId, contactId }: ContactOf, status: string, at: Date) {
  return db.maybe(
    Changed,
    sql`
    update contacts
       set status = ${status}, modified_at = ${at}
     where account_id = ${accountId}
       and id = ${contactId}
       and status <> ${status}
    returning id as contact_id`,
  )
}

export function changeTrackingConsent(
  db: Db,
  { accountId, contactId }: ContactOf,
  consent: boolean,
  at: Date,
) {
  return db.run(sql`
    update contacts
       set tracking_consent = ${consent}, modified_at = ${at}
     where account_id = ${accountId} and id = ${contactId}`)
}

/** The contact, when it was on the list. */
export function leaveList(db: Db, { accountId, contactId }: ContactOf, listId: string, at: Date) {
  return db.maybe(
    Changed,
    sql`
    with gone as (
      delete from list_members
       where account_id = ${accountId} and contact_id = ${contactId} and list_id = ${listId}
      returning account_id, list_id, contact_id)
    insert into list_unsubscriptions (account_id, list_id, contact_id, at)
    select account_id, list_id, contact_id, ${at} from gone
    on conflict (account_id, contact_id, list_id) do update set at = excluded.at
    returning contact_id`,
  )
}

export type Left = { email: string; list_id: string }

/** Notes lists that people left elsewhere, before they were known here; who is on one of them goes. */
export async function recordLeft(db: Db, accountId: string, left: Left[], at: Date): Promise<void> {
  const given = sql`
    (select c.account_id, c.id as contact_id, l.id as list_id
       from json_to_recordset(${JSON.stringify(left)}::json) as n (email text, list_id bigint)
       join contacts c on c.account_id = ${accountId} and c.email = n.email
       join lists l on l.account_id = ${accountId} and l.id = n.list_id) g`
  await db.run(sql`
    delete from list_members m
     using ${given}
     where m.account_id = g.account_id and m.list_id = g.list_id and m.contact_id = g.contact_id`)
  await db.run(sql`
    insert into list_unsubscriptions (account_id, list_id, contact_id, at)
    select account_id, list_id, contact_id, ${at} from ${given}
    on conflict (account_id, contact_id, list_id) do nothing`)
}

/** The contact, when it had left the list itself. */
export function rejoinList(db: Db, { accountId, contactId }: ContactOf, listId: string, at: Date) {
  return db.maybe(
    Changed,
    sql`
    with back as (
      delete from list_unsubscriptions
       where account_id = ${accountId} and contact_id = ${contactId} and list_id = ${listId}
      returning account_id, list_id, contact_id)
    insert into list_members (account_id, list_id, contact_id, added_at, rejoined)
    select account_id, list_id, contact_id, ${at}, true from back
    on conflict (account_id, list_id, contact_id) do nothing
    returning contact_id`,
  )
}

export type PersonListRow = { id: string; name: string; is_member: boolean }

const PersonList = row<PersonListRow>({ id: text, name: text, is_member: bool })

/** The lists that the person is on, or has left. */
export function listPersonLists(db: Db, { accountId, contactId }: ContactOf) {
  return db.many(
    PersonList,
    sql`
    with known as (
      select list_id, true as is_member
        from list_members
       where account_id = ${accountId} and contact_id = ${contactId}
       union all
      select list_id, false
        from list_unsubscriptions
       where account_id = ${accountId} and contact_id = ${contactId})
    select l.id, l.name, bool_or(k.is_member) as is_member
      from known k
      join lists l on l.account_id = ${accountId} and l.id = k.list_id
     group by l.id, l.name
     order by lower(l.name), l.id`,
  )
}

export type NewUnsubscribeEvent = {
  id: string
  accountId: string
  messageId: string
  at: Date
  data: object
  /** The person had come back meanwhile. */
  isNew: boolean
}

/** Once a message for each time that it changed something, and only for a message that is still there. */
export function insertUnsubscribeEvent(db: Db, event: NewUnsubscribeEvent) {
  const { id, accountId, messageId, at, data, isNew } = event
  return db.run(sql`
    insert into message_events (id, account_id, message_id, type, at, data, of_campaign)
    select ${id}::uuid, m.account_id, m.id, 'unsubscribe', ${at}::timestamptz, ${JSON.stringify(data)}::jsonb,
           m.campaign_id is not null
      from messages m
     where m.account_id = ${accountId}
       and m.id = ${messageId}
       and (${isNew} or not exists (
           select 1
             from message_events e
            where e.account_id = m.account_id and e.message_id = m.id and e.type = 'unsubscribe'))`)
}

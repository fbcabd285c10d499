import type { Db } from '../../kernel/db.ts'
import { json, maybe, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { contactOf } from '../contacts/contacts/address-queries.ts'
import { type ContactRef, isRef } from '../contacts/contacts/queries.ts'
import { namesOf } from './erase-queries.ts'
import type { Person } from './person.ts'

const Rows = row<{ rows: Record<string, unknown>[] }>({ rows: json() })

type Ref = { accountId: string; ref: ContactRef }

export const contactId = ({ accountId, ref }: Ref) =>
  sql`(select c.id from contacts c where c.account_id = ${accountId} and ${isRef(ref)})`

export function exportContact(db: Db, { accountId, ref }: Ref) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(c) - 'account_id'), '[]') as rows
      from contacts c
     where c.account_id = ${accountId} and ${isRef(ref)}`,
  )
}

export function exportHistory(db: Db, who: Person) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(h) - 'account_id' - 'id' order by h.id), '[]') as rows
      from contact_history h
     where account_id = ${who.accountId} and contact_id = ${contactId(who)}`,
  )
}

export function exportConsents(db: Db, who: Person) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(c) - 'account_id' - 'key_id' - 'id' order by c.id), '[]') as rows
      from consents c
     where account_id = ${who.accountId} and contact_id = ${contactId(who)}`,
  )
}

export function exportLists(db: Db, who: Person) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(jsonb_build_object('id', l.id, 'name', l.name, 'added_at', m.added_at)), '[]') as rows
      from list_members m
      join lists l on l.account_id = m.account_id and l.id = m.list_id
     where m.account_id = ${who.accountId} and m.contact_id = ${contactId(who)}`,
  )
}

/** Of addresses without a contact too: an import that brings them does not bring them onto these lists. */
export function exportLeftLists(db: Db, who: Person) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(jsonb_build_object('id', l.id, 'name', l.name, 'left_at', u.at)), '[]') as rows
      from (select list_id, at
              from list_unsubscriptions
             where account_id = ${who.accountId} and contact_id = ${contactId(who)}
             union all
            select list_id, at
              from kept_leavings
             where account_id = ${who.accountId} and email = any(${who.emails}::text[])) u
      join lists l on l.account_id = ${who.accountId} and l.id = u.list_id`,
  )
}

/** With their contents and events; attachments by name and size. */
export function exportMessages(db: Db, { accountId, emails }: Person) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(m) - 'account_id' - 'key_id' || jsonb_build_object(
             'content', coalesce(b.parts::jsonb, to_jsonb(encode(b.raw, 'base64'))),
             'events', (select coalesce(jsonb_agg(to_jsonb(e) - 'account_id' - 'message_id' order by e.at, e.id), '[]')
                          from message_events e
                         where e.account_id = m.account_id and e.message_id = m.id),
             'attachments', (select coalesce(jsonb_agg(jsonb_build_object('filename', a.filename, 'bytes',
                                      length(a.content)) order by a.position), '[]')
                               from message_attachments a
                              where a.message_id = m.id)) order by m.id), '[]') as rows
      from messages m
      left join message_bodies b on b.message_id = m.id
     where m.account_id = ${accountId} and m.recipient = any(${emails}::text[])`,
  )
}

export function exportSuppression(db: Db, { accountId, email }: Person) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(s) - 'account_id' - 'id' - 'email'), '[]') as rows
      from suppressions s
     where account_id = ${accountId} and email in (${email}, erased_name(${email}))`,
  )
}

/** What is kept by the address alone, of each that the contact had before. */
export function exportFormer(db: Db, { accountId, email, emails }: Person) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(jsonb_build_object(
             'email', n.email,
             'suppression', (select to_jsonb(s) - 'account_id' - 'id' - 'email'
                               from suppressions s
                              where s.account_id = ${accountId} and s.email in (n.email, erased_name(n.email))
                              limit 1),
             'prospect', (select to_jsonb(p) - 'account_id'
                            from outreach_prospects p
                           where p.account_id = ${accountId} and p.email = n.email)) order by n.email), '[]') as rows
      from unnest(${emails}::text[]) as n (email)
     where n.email is distinct from ${email}`,
  )
}

type Found = { id: string; email: string | null; sms: string | null; ext_id: string | null }

const Contact = row<Found>({ id: text, email: maybe(text), sms: maybe(text), ext_id: maybe(text) })

export async function findContact(db: Db, { accountId, ref }: Ref) {
  const found = await db.maybe(
    Contact,
    sql`select c.id, c.email, c.sms, c.ext_id from contacts c where c.account_id = ${accountId} and ${isRef(ref)}`,
  )
  return found ?? { id: null, email: null, sms: null, ext_id: null }
}

const Moved = row<{ id: string; email: string | null }>({ id: text, email: maybe(text) })

/** The contact that was the last to leave the address, as long as nobody has it. */
export function findMoved(db: Db, { accountId, email }: { accountId: string; email: string }) {
  return db.maybe(
    Moved,
    sql`
    select id, email
      from contacts
     where account_id = ${accountId}
       and id = ${contactOf({ accountId, email })}
       and email is distinct from ${email}`,
  )
}

/** The same of a telephone number. */
export function findMovedFrom(db: Db, { accountId, phone }: { accountId: string; phone: string }) {
  return db.maybe(
    Moved,
    sql`
    select id, email
      from contacts
     where account_id = ${accountId}
       and id = (select contact_id
                   from contact_history
                  where account_id = ${accountId}
                    and attribute = 'SMS'
                    and old_value = to_jsonb(${phone}::text)
                  order by id desc
                  limit 1)
       and not exists (select 1 from contacts o where o.account_id = ${accountId} and o.sms = ${phone})`,
  )
}

const Former = row<{ value: string }>({ value: text })

const ofOthers = { EMAIL: sql`o.email`, SMS: sql`o.sms` }

/** The addresses, or telephone numbers, that the contact had before, unless they are another contact's by now. */
export function listFormer(db: Db, { accountId, ref }: Ref, attribute: keyof typeof ofOthers) {
  return db.many(
    Former,
    sql`
    select distinct h.old_value #>> '{}' as value
      from contacts c
      join contact_history h on h.account_id = c.account_id and h.contact_id = c.id
     where c.account_id = ${accountId}
       and ${isRef(ref)}
       and h.attribute = ${attribute}
       and h.old_value is not null
       and not exists (select 1
                         from contacts o
                        where o.account_id = ${accountId} and ${ofOthers[attribute]} = h.old_value #>> '{}')
     order by 1`,
  )
}

export function exportSoftBounces(db: Db, { accountId, emails }: Person) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(s) - 'account_id' - 'email'), '[]') as rows
      from soft_bounces s
     where account_id = ${accountId} and email = any(${emails}::text[])`,
  )
}

export function exportBlockedSenders(db: Db, { accountId, emails }: Person) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(json_build_object('sender', sender, 'created_at', created_at) order by id), '[]') as rows
      from blocked_senders
     where account_id = ${accountId} and email = any(${emails}::text[])`,
  )
}

export function exportConversions(db: Db, { accountId, emails }: Person) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(c) - 'account_id' - 'email' order by c.id), '[]') as rows
      from conversions c
     where account_id = ${accountId} and email = any(${emails}::text[])`,
  )
}

export function exportOptins(db: Db, { accountId, emails }: Person) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(o) - 'account_id' - 'key_id' - 'id' order by o.created_at), '[]') as rows
      from double_optins o
     where account_id = ${accountId} and email = any(${emails}::text[])`,
  )
}

export function exportSenders(db: Db, { accountId, emails }: Person) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(s) - 'account_id' - 'code_hash' - 'tries_left' order by s.id), '[]') as rows
      from senders s
     where account_id = ${accountId} and lower(email) = any(${emails}::text[])`,
  )
}

export function exportCustomEvents(db: Db, who: Person) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(e) - 'account_id' order by e.id), '[]') as rows
      from custom_events e
     where account_id = ${who.accountId} and contact_id = ${contactId(who)}`,
  )
}

export function exportRuns(db: Db, who: Person) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(r) - 'account_id' - 'key_id' order by r.id), '[]') as rows
      from automation_runs r
     where account_id = ${who.accountId}
       and (email = any(${who.emails}::text[]) or contact_id = ${contactId(who)})`,
  )
}

/** What was told of them to others, and what is about to be. */
export function exportWebhooks(db: Db, who: Person) {
  const { accountId, emails } = who
  const about = sql`
    (email = any(${namesOf(who)}::text[])
     or message_id = any(array(select id
                                 from messages
                                where account_id = ${accountId} and recipient = any(${emails}::text[]))))`
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(d) order by d.id), '[]') as rows
      from (select id, webhook_id, event, message_id, email, data, attempts, created_at, attempted_at, answer
              from webhook_queue
             where account_id = ${accountId} and ${about}
            union all
            select id, webhook_id, event, message_id, email, data, attempts, created_at, attempted_at, answer
              from webhook_deliveries
             where account_id = ${accountId} and ${about}) d`,
  )
}

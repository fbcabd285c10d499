import { type Db, isUniqueViolation, overtaken } from '../../../kernel/db.ts'
import { int, maybe, row, text } from '../../../kernel/row.ts'
import { type Sql, sql, when } from '../../../kernel/sql.ts'
import type { Slice } from '../../../kernel/v3/paging.ts'
import { type Condition, inSegment } from '../segments/condition-queries.ts'
import {
  type ContactRow,
  ContactShape,
  type ContactStatus,
  contactColumns,
  isSuppressed,
} from './row-queries.ts'

/** One way to say which contact. */
export type ContactRef = { id: string } | { email: string } | { extId: string } | { sms: string }

/** Of the contact `c`. */
export function isRef(ref: ContactRef): Sql {
  if ('id' in ref) return sql`c.id = ${ref.id}`
  if ('email' in ref) return sql`c.email = ${ref.email}`
  return 'extId' in ref ? sql`c.ext_id = ${ref.extId}` : sql`c.sms = ${ref.sms}`
}

export function findContact(db: Db, accountId: string, ref: ContactRef) {
  return db.maybe(
    ContactShape,
    sql`select ${contactColumns} from contacts c where c.account_id = ${accountId} and ${isRef(ref)}`,
  )
}

/** Nobody else changes it until the transaction ends. */
export function lockContact(db: Db, accountId: string, ref: ContactRef) {
  return db.maybe(
    ContactShape,
    sql`
    select ${contactColumns} from contacts c where c.account_id = ${accountId} and ${isRef(ref)} for update`,
  )
}

const Id = row<{ id: string }>({ id: text })

export type Identifiers = { emails: string[]; extIds: string[]; phones: string[] }

/**
 * The numbers of those that there are. Each is looked up by itself, from the given ones to the table: a plan that began
 * with the contacts of the account, because the planner believes that there are none, would compare all of them with
 * all given ones.
 */
export function numbersOf(accountId: string, { emails, extIds, phones }: Identifiers): Sql {
  const found = (given: string[], column: Sql) => sql`
         select c.id from unnest(${given}::text[]) as given
          cross join lateral (select id from contacts
                               where account_id = ${accountId} and ${column} = given limit 1) c`
  return sql`${found(emails, sql`email`)}
             union
            ${found(extIds, sql`ext_id`)}
             union
            ${found(phones, sql`sms`)}`
}

export type ContactNames = Pick<ContactRow, 'id' | 'email' | 'ext_id' | 'sms'>

const Names = row<ContactNames>({ id: text, email: maybe(text), ext_id: maybe(text), sms: maybe(text) })

/** In the order of their numbers, as imports do it. Gives what else they are known by. */
export function lockContacts(db: Db, accountId: string, refs: ContactRef[]) {
  const identifiers = {
    emails: refs.flatMap((ref) => ('email' in ref ? ref.email : [])),
    extIds: refs.flatMap((ref) => ('extId' in ref ? ref.extId : [])),
    phones: refs.flatMap((ref) => ('sms' in ref ? ref.sms : [])),
  }
  return db.many(
    Names,
    sql`
    select k.*
      from (select unnest(${refs.flatMap((ref) => ('id' in ref ? ref.id : []))}::bigint[]) as id
             union
            ${numbersOf(accountId, identifiers)}
             order by id) f
     cross join lateral (
       select id, email, ext_id, sms
         from contacts
        where account_id = ${accountId} and id = f.id
        limit 1
          for update) k`,
  )
}

export type ContactFilter = {
  modifiedSince?: Date
  createdSince?: Date
  ids?: string[]
  listIds?: string[]
  equals?: Condition
  segment?: Condition
  isBlacklisted?: boolean
  /** Left this list by their own choice. */
  leftListId?: string
}

function matches(filter: ContactFilter): Sql {
  return sql`
    ${when(filter.modifiedSince, (since) => sql`and c.modified_at >= ${since}`)}
    ${when(filter.createdSince, (since) => sql`and c.created_at >= ${since}`)}
    ${when(filter.ids, (ids) => sql`and c.id = any(${ids}::bigint[])`)}
    ${when(filter.segment, (condition) => sql`and ${inSegment(condition)}`)}
    ${when(filter.isBlacklisted, (is) => sql`and (c.status = 'unsubscribed' or ${isSuppressed}) = ${is}`)}
    ${when(
      filter.leftListId,
      (id) => sql`
      and exists (select 1
                    from list_unsubscriptions u
                   where u.account_id = c.account_id and u.contact_id = c.id and u.list_id = ${id})`,
    )}
    ${when(filter.equals, (condition) => sql`and ${inSegment(condition)}`)}
    ${when(
      filter.listIds,
      (ids) => sql`
      and exists (select 1
                    from list_members m
                   where m.account_id = c.account_id and m.contact_id = c.id and m.list_id = any(${ids}::bigint[]))`,
    )}`
}

/**
 * Walks from the newest on, or the oldest, and stops when the page is full; nothing is sorted. Whose page it is stands
 * before their columns are read: lists and suppressions are not looked up for those who are skipped.
 */
export function listContacts(db: Db, accountId: string, filter: ContactFilter, slice: Slice) {
  const order = slice.ascending ? sql`c.id` : sql`c.id desc`
  const beyond = (after: string) => (slice.ascending ? sql`and c.id > ${after}` : sql`and c.id < ${after}`)
  return db.many(
    ContactShape,
    sql`
    select ${contactColumns}
      from contacts c
     where c.account_id = ${accountId}
       and c.id = any(array(select c.id
                              from contacts c
                             where c.account_id = ${accountId}
                               ${matches(filter)}
                               ${when(slice.after, beyond)}
                             order by ${order}
                             limit ${slice.limit} offset ${slice.offset}))
     order by ${order}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countContacts(db: Db, accountId: string, filter: ContactFilter) {
  return db.one(
    Count,
    sql`select count(*)::int as count from contacts c where c.account_id = ${accountId} ${matches(filter)}`,
  )
}

/** Of the whole account, or of one list: kept by the database as rows come and go. */
export function keptCount(db: Db, accountId: string, listId: string) {
  return db.maybe(
    Count,
    sql`
    select contacts::int as count from contact_counts where account_id = ${accountId} and list_id = ${listId}`,
  )
}

export type ContactFields = {
  email: string | null
  ext_id: string | null
  sms: string | null
  status: ContactStatus
  sms_blacklisted: boolean
  /** JSON text. */
  attributes: string
  consent_date: Date | null
  consent_source: string | null
  consent_ip: string | null
  consent_text: string | null
  tracking_consent: boolean | null
}

/** Nothing when one of its identifiers belongs to another contact. */
export function insertContact(db: Db, accountId: string, fields: ContactFields, at: Date) {
  return db.maybe(
    Id,
    sql`
    insert into contacts
      (account_id, email, ext_id, sms, status, sms_blacklisted, attributes, consent_date, consent_source,
       consent_ip, consent_text, tracking_consent, created_at, modified_at)
    values (${accountId}, ${fields.email}, ${fields.ext_id}, ${fields.sms}, ${fields.status},
            ${fields.sms_blacklisted}, ${fields.attributes}, ${fields.consent_date}, ${fields.consent_source},
            ${fields.consent_ip}, ${fields.consent_text}, ${fields.tracking_consent}, ${at}, ${at})
    on conflict do nothing
    returning id`,
  )
}

/** Runs again when somebody else took one of its identifiers meanwhile; findHolders then gives them. */
export function updateContact(
  db: Db,
  { accountId, id, at }: { accountId: string; id: string; at: Date },
  fields: ContactFields,
) {
  const updated = db.run(sql`
    update contacts
       set email = ${fields.email}, ext_id = ${fields.ext_id}, sms = ${fields.sms}, status = ${fields.status},
           sms_blacklisted = ${fields.sms_blacklisted}, attributes = ${fields.attributes},
           consent_date = ${fields.consent_date}, consent_source = ${fields.consent_source},
           consent_ip = ${fields.consent_ip}, consent_text = ${fields.consent_text},
           tracking_consent = ${fields.tracking_consent}, modified_at = ${at}
     where account_id = ${accountId}
       and id = ${id}`)
  return updated.catch((error) => {
    throw identifiers.some((index) => isUniqueViolation(error, index)) ? overtaken() : error
  })
}

const identifiers = ['contacts_email_idx', 'contacts_ext_id_idx', 'contacts_sms_idx']

const Taken = row<{ id: string; by: string }>({ id: text, by: text })

/** Which of the identifiers other contacts hold. */
export function findHolders(db: Db, accountId: string, { email, ext_id, sms }: ContactFields) {
  return db.many(
    Taken,
    sql`
    select id, 'email' as by from contacts where account_id = ${accountId} and email = ${email}
    union all
    select id, 'ext_id' from contacts where account_id = ${accountId} and ext_id = ${ext_id}
    union all
    select id, 'SMS' from contacts where account_id = ${accountId} and sms = ${sms}`,
  )
}

export function deleteContact(db: Db, accountId: string, id: string) {
  return db.run(sql`delete from contacts where account_id = ${accountId} and id = ${id}`)
}

// What is only ever added to: history and consents; and the tags beside them.
import type { Db } from '../../../kernel/db.ts'
import { int, json, row, text, texts, time } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'

export type ChangeRow = {
  id: string
  attribute: string
  old_value: unknown
  new_value: unknown
  changed_at: Date
  source: string
}

const Change = row<ChangeRow>({
  id: text,
  attribute: text,
  old_value: json(),
  new_value: json(),
  changed_at: time,
  source: text,
})

export type NewChange = { id: string; attribute: string; old_value: unknown; new_value: unknown }

export function insertChanges(
  db: Db,
  of: { accountId: string; contactId: string; at: Date; source: string },
  changes: NewChange[],
) {
  return db.run(sql`
    insert into contact_history (account_id, contact_id, id, attribute, old_value, new_value, changed_at, source)
    select ${of.accountId}, ${of.contactId}, h.id, h.attribute, nullif(h.old_value, 'null'),
           nullif(h.new_value, 'null'), ${of.at}, ${of.source}
      from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb)
           as h (id uuid, attribute text, old_value jsonb, new_value jsonb)`)
}

export function listChanges(
  db: Db,
  accountId: string,
  contactId: string,
  page: { after: string | undefined; offset: number; limit: number },
) {
  return db.many(
    Change,
    sql`
    select id, attribute, old_value, new_value, changed_at, source
      from contact_history
     where account_id = ${accountId}
       and contact_id = ${contactId}
       ${when(page.after, (after) => sql`and id < ${after}`)}
     order by id desc
     limit ${page.limit} offset ${page.offset}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countChanges(db: Db, accountId: string, contactId: string) {
  return db.one(
    Count,
    sql`
    select count(*)::int as count
      from contact_history
     where account_id = ${accountId} and contact_id = ${contactId}`,
  )
}

export type NewConsent = {
  accountId: string
  contactId: string
  id: string
  date: Date | null
  source: string | null
  ip: string | null
  text: string | null
  tracking: boolean | null
  keyId: string
  at: Date
}

export function insertConsent(db: Db, one: NewConsent) {
  return db.run(sql`
    insert into consents
      (account_id, contact_id, id, date, source, ip, text, tracking_consent, key_id, recorded_at)
    values (${one.accountId}, ${one.contactId}, ${one.id}, ${one.date}, ${one.source}, ${one.ip}, ${one.text},
            ${one.tracking}, ${one.keyId}, ${one.at})`)
}

const Tags = row<{ tags: string[] }>({ tags: texts })

export type TagChange = { accountId: string; contactId: string; tags: string[]; at: Date }

export async function addTags(db: Db, { accountId, contactId, tags, at }: TagChange) {
  await db.run(sql`
    insert into contact_tags (account_id, name, created_at)
    select ${accountId}, name, ${at} from unnest(${[...tags].sort()}::text[]) as name
    on conflict do nothing`)
  return db.one(
    Tags,
    sql`
    update contacts
       set tags = (select coalesce(array_agg(distinct t order by t), '{}') from unnest(tags || ${tags}::text[]) t),
           modified_at = ${at}
     where account_id = ${accountId} and id = ${contactId}
    returning tags`,
  )
}

export function removeTags(db: Db, { accountId, contactId, tags, at }: TagChange) {
  return db.one(
    Tags,
    sql`
    update contacts
       set tags = array(select t from unnest(tags) t where t <> all(${tags}::text[]) order by t),
           modified_at = ${at}
     where account_id = ${accountId} and id = ${contactId}
    returning tags`,
  )
}

const Known = row<{ id: string }>({ id: text })

/** They stay as long as the transaction lasts. */
export function findLists(db: Db, accountId: string, ids: string[]) {
  return db.many(
    Known,
    sql`select id from lists where account_id = ${accountId} and id = any(${ids}::bigint[]) for key share`,
  )
}

type Membership = { accountId: string; contactId: string; listIds: string[]; at: Date }

/** Who is put on a list again has not left it any more. */
export async function joinLists(db: Db, { accountId, contactId, listIds, at }: Membership) {
  await db.run(sql`
    insert into list_members (account_id, list_id, contact_id, added_at)
    select ${accountId}, id, ${contactId}, ${at} from unnest(${listIds}::bigint[]) as id order by id
    on conflict do nothing`)
  await db.run(sql`
    delete from list_unsubscriptions
     where account_id = ${accountId} and contact_id = ${contactId} and list_id = any(${listIds}::bigint[])`)
}

export function leaveLists(db: Db, { accountId, contactId, listIds }: Omit<Membership, 'at'>) {
  return db.run(sql`
    delete from list_members
     where account_id = ${accountId} and contact_id = ${contactId} and list_id = any(${listIds}::bigint[])`)
}

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

export type NewChange = {
  id: string
  contact_id: string
  attribute: string
  old_value: unknown
  new_value: unknown
}

/** What an attribute is called in the history, where STATUS is whether the contact is written to. */
export const nameInHistory = (attribute: string) => (attribute === 'STATUS' ? 'attributes.STATUS' : attribute)

export async function insertChanges(
  db: Db,
  of: { accountId: string; at: Date; source: string },
  changes: NewChange[],
): Promise<void> {
  if (changes.length === 0) return
  await db.run(sql`
    insert into contact_history (account_id, contact_id, id, attribute, old_value, new_value, changed_at, source)
    select ${of.accountId}, h.contact_id, h.id, h.attribute, nullif(h.old_value, 'null'),
           nullif(h.new_value, 'null'), ${of.at}, ${of.source}
      from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb)
           as h (id uuid, contact_id bigint, attribute text, old_value jsonb, new_value jsonb)`)
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
  /** None when the person said it themselves. */
  keyId: string | null
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

function insertTags(db: Db, { accountId, tags, at }: TagChange) {
  return db.run(sql`
    insert into contact_tags (account_id, name, created_at)
    select ${accountId}, name, ${at} from unnest(${[...tags].sort()}::text[]) as name
    on conflict do nothing`)
}

/** In place of those before. */
export async function setTags(db: Db, change: TagChange): Promise<void> {
  const { accountId, contactId, tags, at } = change
  await insertTags(db, change)
  await db.run(sql`
    update contacts
       set tags = array(select distinct t from unnest(${tags}::text[]) t order by t), modified_at = ${at}
     where account_id = ${accountId} and id = ${contactId}`)
}

export async function addTags(db: Db, change: TagChange) {
  const { accountId, contactId, tags, at } = change
  await insertTags(db, change)
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

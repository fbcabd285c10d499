import type { Db } from '../../../kernel/db.ts'
import type { Address } from '../../../kernel/email-address.ts'
import { bool, int, json, maybe, row, text, time } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'
import type { Slice } from '../../../kernel/v3/paging.ts'

export type TemplateRow = {
  id: string
  name: string
  subject: string
  html: string
  sender: Address
  reply_to: string | null
  to_field: string
  tag: string
  attachment_url: string | null
  is_active: boolean
  test_sent: boolean
  created_at: Date
  updated_at: Date
}

const Template = row<TemplateRow>({
  id: text,
  name: text,
  subject: text,
  html: text,
  sender: json(),
  reply_to: maybe(text),
  to_field: text,
  tag: text,
  attachment_url: maybe(text),
  is_active: bool,
  test_sent: bool,
  created_at: time,
  updated_at: time,
})

const columns = sql`
  id, name, subject, html, sender, reply_to, to_field, tag, attachment_url, is_active, test_sent, created_at,
  updated_at`

export function findTemplateRow(db: Db, accountId: string, id: number) {
  return db.maybe(
    Template,
    sql`select ${columns} from templates where account_id = ${accountId} and id = ${id}`,
  )
}

/** For one that is to be changed: two changes at once would each write the fields that the other left. */
export function lockTemplateRow(db: Db, accountId: string, id: number) {
  return db.maybe(
    Template,
    sql`select ${columns} from templates where account_id = ${accountId} and id = ${id} for update`,
  )
}

type Filter = { isActive?: boolean }

export function listTemplates(db: Db, accountId: string, { isActive }: Filter, slice: Slice) {
  return db.many(
    Template,
    sql`
    select ${columns}
      from templates
     where account_id = ${accountId}
       ${when(isActive, (active) => sql`and is_active = ${active}`)}
       ${when(slice.after, (after) => (slice.ascending ? sql`and id > ${after}` : sql`and id < ${after}`))}
     order by ${slice.ascending ? sql`id` : sql`id desc`}
     limit ${slice.limit}
    offset ${slice.offset}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countTemplates(db: Db, accountId: string, { isActive }: Filter) {
  return db.one(
    Count,
    sql`
    select count(*)::int as count
      from templates
     where account_id = ${accountId}
       ${when(isActive, (active) => sql`and is_active = ${active}`)}`,
  )
}

export type TemplateFields = Omit<TemplateRow, 'id' | 'test_sent' | 'created_at' | 'updated_at'>

const Id = row<{ id: string }>({ id: text })

export function insertTemplate(db: Db, accountId: string, one: TemplateFields, at: Date) {
  return db.one(
    Id,
    sql`
    insert into templates
      (account_id, name, subject, html, sender, reply_to, to_field, tag, attachment_url, is_active, created_at,
       updated_at)
    values (${accountId}, ${one.name}, ${one.subject}, ${one.html}, ${JSON.stringify(one.sender)}, ${one.reply_to},
            ${one.to_field}, ${one.tag}, ${one.attachment_url}, ${one.is_active}, ${at}, ${at})
    returning id`,
  )
}

export function updateTemplateRow(
  db: Db,
  { accountId, id }: { accountId: string; id: string },
  one: TemplateFields,
  at: Date,
) {
  return db.run(sql`
    update templates
       set name = ${one.name}, subject = ${one.subject}, html = ${one.html},
           sender = ${JSON.stringify(one.sender)}, reply_to = ${one.reply_to}, to_field = ${one.to_field},
           tag = ${one.tag}, attachment_url = ${one.attachment_url}, is_active = ${one.is_active}, updated_at = ${at}
     where account_id = ${accountId}
       and id = ${id}`)
}

export function deleteTemplateRow(db: Db, accountId: string, id: string) {
  return db.run(sql`delete from templates where account_id = ${accountId} and id = ${id} and not is_active`)
}

export function markTestSent(db: Db, accountId: string, id: string) {
  return db.run(sql`update templates set test_sent = true where account_id = ${accountId} and id = ${id}`)
}

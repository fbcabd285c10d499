import type { Db } from '../../kernel/db.ts'
import type { Address } from '../../kernel/email-address.ts'
import { bool, json, maybe, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

export type UsedTemplate = {
  id: string
  subject: string
  html: string
  sender: Address
  reply_to: string | null
  tag: string
  is_active: boolean
}

const Used = row<UsedTemplate>({
  id: text,
  subject: text,
  html: text,
  sender: json(),
  reply_to: maybe(text),
  tag: text,
  is_active: bool,
})

export function findTemplate(db: Db, accountId: string, id: number) {
  return db.maybe(
    Used,
    sql`
    select id, subject, html, sender, reply_to, tag, is_active
      from templates
     where account_id = ${accountId}
       and id = ${id}`,
  )
}

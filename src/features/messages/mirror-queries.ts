import type { Db } from '../../kernel/db.ts'
import { maybe, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

const Body = row<{ recipient: string; subject: string; html: string | null; text: string | null }>({
  recipient: text,
  subject: text,
  html: maybe(text),
  text: maybe(text),
})

/** Nothing for what came composed, and for a campaign's: it has no body of its own. */
export function findBody(db: Db, accountId: string, messageId: string) {
  return db.maybe(
    Body,
    sql`
    select m.recipient, m.subject, b.parts ->> 'html' as html, b.parts ->> 'text' as text
      from messages m
      join message_bodies b on b.message_id = m.id and b.parts is not null
     where m.account_id = ${accountId}
       and m.id = ${messageId}`,
  )
}

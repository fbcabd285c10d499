import type { Db } from '../../kernel/db.ts'
import { bytes, row, text, time } from '../../kernel/row.ts'
import { sql, when } from '../../kernel/sql.ts'

type NewCaptured = {
  id: string
  accountId: string
  messageId: string
  recipient: string
  raw: Buffer
  at: Date
}

/** Of a message that is still there: one that was erased meanwhile leaves nothing behind. */
export function insertCaptured(db: Db, one: NewCaptured) {
  return db.run(sql`
    insert into captured_messages (id, account_id, message_id, recipient, raw, received_at)
    select ${one.id}::uuid, m.account_id, m.id, ${one.recipient}, ${one.raw}::bytea, ${one.at}::timestamptz
      from messages m
     where m.account_id = ${one.accountId}
       and m.id = ${one.messageId}
       for key share
    on conflict (account_id, message_id) do nothing`)
}

export type CapturedRow = {
  id: string
  message_id: string
  recipient: string
  raw: Buffer
  received_at: Date
}

const Captured = row<CapturedRow>({
  id: text,
  message_id: text,
  recipient: text,
  raw: bytes,
  received_at: time,
})

type Filter = { id?: string; to?: string; after?: string; limit: number }

export function listCaptured(db: Db, accountId: string, { id, to, after, limit }: Filter) {
  return db.many(
    Captured,
    sql`
    select id, message_id, recipient, raw, received_at
      from captured_messages
     where account_id = ${accountId}
       ${when(id, (one) => sql`and id = ${one}`)}
       ${when(to, (one) => sql`and recipient = ${one}`)}
       ${when(after, (one) => sql`and id < ${one}`)}
     order by id desc
     limit ${limit}`,
  )
}

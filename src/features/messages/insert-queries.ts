// Acceptance: many messages of many accounts in a handful of statements.
import type { Db } from '../../kernel/db.ts'
import { type Sql, sql } from '../../kernel/sql.ts'
import type { Source, Status, Stream } from './model.ts'

export type NewMessage = {
  id: string
  accountId: string
  keyId: string
  status: Status
  source: Source
  mode: 'live' | 'test'
  stream: Stream
  lane: number
  sender: string
  senderName: string | null
  recipient: string
  recipientName: string | null
  subject: string
  tag: string | null
  /** JSON text. */
  tags: string | null
  metadata: string | null
  templateId: string | null
  batchId: string | null
  messageId: string
  createdAt: Date
  scheduledAt: Date | null
}

export function insertMessages(db: Db, messages: NewMessage[]) {
  const column = <K extends keyof NewMessage>(name: K) => messages.map((message) => message[name])
  return db.run(sql`
    insert into messages
      (id, account_id, key_id, status, source, mode, stream, sender, sender_name, recipient, recipient_name,
       subject, tag, tags, metadata, template_id, batch_id, message_id, created_at, scheduled_at)
    select id, account_id, key_id, status, source, mode, stream, sender, sender_name, recipient, recipient_name,
           subject, tag, array(select jsonb_array_elements_text(tags)), metadata, template_id, batch_id,
           message_id, created_at, scheduled_at
      from unnest(${column('id')}::uuid[], ${column('accountId')}::bigint[], ${column('keyId')}::uuid[],
                  ${column('status')}::text[], ${column('source')}::text[], ${column('mode')}::text[],
                  ${column('stream')}::text[], ${column('sender')}::text[], ${column('senderName')}::text[],
                  ${column('recipient')}::text[], ${column('recipientName')}::text[],
                  ${column('subject')}::text[], ${column('tag')}::text[], ${column('tags')}::jsonb[],
                  ${column('metadata')}::jsonb[], ${column('templateId')}::bigint[],
                  ${column('batchId')}::uuid[], ${column('messageId')}::text[],
                  ${column('createdAt')}::timestamptz[], ${column('scheduledAt')}::timestamptz[])
           as m (id, account_id, key_id, status, source, mode, stream, sender, sender_name, recipient,
                 recipient_name, subject, tag, tags, metadata, template_id, batch_id, message_id, created_at,
                 scheduled_at)`)
}

export function insertQueueRows(db: Db, messages: NewMessage[]) {
  const column = <K extends keyof NewMessage>(name: K) => messages.map((message) => message[name])
  return db.run(sql`
    insert into delivery_queue (message_id, account_id, lane, due_at)
    select *
      from unnest(${column('id')}::uuid[], ${column('accountId')}::bigint[], ${column('lane')}::smallint[],
                  ${messages.map(({ scheduledAt, createdAt }) => scheduledAt ?? createdAt)}::timestamptz[])`)
}

export type NewBody = {
  messageId: string
  accountId: string
  parts: string | null
  raw: Buffer | null
  track: string
}

// One parameter a value instead of arrays: unpacking an array of large texts costs several times as much.
// Multiples of eight and a rest keep both the different statements and the round trips few.
export async function insertBodies(db: Db, bodies: NewBody[]): Promise<void> {
  for (let from = 0; from < bodies.length; ) {
    const left = bodies.length - from
    const size = left < 8 ? left : Math.min(64, left - (left % 8))
    await db.run(bodyStatement(bodies.slice(from, from + size)))
    from += size
  }
}

function bodyStatement(bodies: NewBody[]): Sql {
  const rows = bodies
    .map((body) => sql`(${body.messageId}, ${body.accountId}, ${body.parts}, ${body.raw}, ${body.track})`)
    .reduce((list, one) => sql`${list}, ${one}`)
  return sql`insert into message_bodies (message_id, account_id, parts, raw, track) values ${rows}`
}

export type NewAttachment = {
  messageId: string
  accountId: string
  position: number
  filename: string
  contentType: string
  contentId: string | null
  content: Buffer
}

export function insertAttachment(db: Db, one: NewAttachment) {
  return db.run(sql`
    insert into message_attachments (message_id, position, account_id, filename, content_type, content_id, content)
    values (${one.messageId}, ${one.position}, ${one.accountId}, ${one.filename}, ${one.contentType},
            ${one.contentId}, ${one.content})`)
}

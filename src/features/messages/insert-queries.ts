// Acceptance: many messages of many accounts in a handful of statements.
import type { Db } from '../../kernel/db.ts'
import { sql, valueRows } from '../../kernel/sql.ts'
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
  tags: string[] | null
  metadata: Record<string, string> | null
  templateId: string | null
  batchId: string | null
  automationId: string | null
  listId: string | undefined
  consentSource: string | undefined
  messageId: string
  createdAt: Date
  scheduledAt: Date | null
}

/** Messages and their places in the queue. They travel as one JSON text, which costs less than twenty arrays. */
export function insertMessages(db: Db, messages: NewMessage[]) {
  return db.runLast(sql`
    with given as materialized (
      select *
        from json_to_recordset(${JSON.stringify(messages)}::json)
             as m (id uuid, "accountId" bigint, "keyId" uuid, status text, source text, mode text, stream text,
                   lane smallint, sender text, "senderName" text, recipient text, "recipientName" text,
                   subject text, tags json, metadata jsonb, "templateId" bigint, "batchId" uuid,
                   "automationId" uuid, "listId" bigint, "consentSource" text, "messageId" text,
                   "createdAt" timestamptz, "scheduledAt" timestamptz)),
    listed as (
      insert into messages
        (id, account_id, key_id, status, source, mode, stream, sender, sender_name, recipient, recipient_name,
         subject, tag, tags, metadata, template_id, batch_id, automation_id, list_id, consent_source,
         message_id, created_at, scheduled_at)
      select id, "accountId", "keyId", status, source, mode, stream, sender, "senderName", recipient,
             "recipientName", subject, tags ->> 0,
             case when tags is not null then array(select json_array_elements_text(tags)) end, metadata,
             "templateId", "batchId", "automationId", "listId", "consentSource", "messageId", "createdAt",
             "scheduledAt"
        from given),
    tagged as (
      insert into message_tags (account_id, tag, message_id)
      select "accountId", t.tag, id
        from given, json_array_elements_text(tags) with ordinality as t (tag, n)
       where t.n > 1 and t.tag <> tags ->> 0
      on conflict do nothing)
    -- Claims go by the clock of the database: what has no time of its own does not wait where another clock is ahead.
    insert into delivery_queue (message_id, account_id, lane, due_at)
    select id, "accountId", lane, coalesce("scheduledAt", least("createdAt", clock_timestamp()))
      from given
     where status = 'queued'`)
}

export type NewBody = {
  messageId: string
  accountId: string
  parts: string | null
  raw: Buffer | null
  track: string
}

const bodyTypes = ['uuid', 'bigint', 'json', 'bytea', 'jsonb']
const aroundBodies = {
  before: 'insert into message_bodies (message_id, account_id, parts, raw, track) select * from (values',
  after: ') as b (message_id, account_id, parts, raw, track) where message_id is not null',
}

/** One parameter a value instead of arrays: unpacking an array of large texts costs several times as much. */
export function insertBodies(db: Db, bodies: NewBody[]) {
  return db.runLast(insertionOf(bodies))
}

/** When they need not be held until the end. */
export function insertBodiesNow(db: Db, bodies: NewBody[]) {
  return db.run(insertionOf(bodies))
}

function insertionOf(bodies: NewBody[]) {
  const rows = bodies.map((body) => [body.messageId, body.accountId, body.parts, body.raw, body.track])
  return valueRows(aroundBodies, bodyTypes, rows)
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
  return db.runLast(sql`
    insert into message_attachments (message_id, position, account_id, filename, content_type, content_id, content)
    values (${one.messageId}, ${one.position}, ${one.accountId}, ${one.filename}, ${one.contentType},
            ${one.contentId}, ${one.content})`)
}

/** Of what was written before for another message. */
export type Copy = { messageId: string; firstId: string }
/** A raw message has parts of its own beside it; the address of a blind copy may have letters of its own. */
export type BodyCopy = Copy & { ownParts: string | null; ownTrack: string | null }

const idsOf = (copies: Copy[]) => copies.map(({ messageId }) => messageId)
const firstsOf = (copies: Copy[]) => copies.map(({ firstId }) => firstId)

// Found by their key one by one, whatever the planner thinks of so many; large ones are copied compressed as they are.
export function copyBodies(db: Db, copies: BodyCopy[]) {
  const parts = copies.map(({ ownParts }) => ownParts)
  const tracks = copies.map(({ ownTrack }) => ownTrack)
  return db.runLast(sql`
    insert into message_bodies (message_id, account_id, parts, raw, track)
    select c.id, b.account_id, case when b.raw is null then b.parts else c.parts::json end, b.raw,
           coalesce(c.track::jsonb, b.track)
      from unnest(${idsOf(copies)}::uuid[], ${firstsOf(copies)}::uuid[], ${parts}::text[], ${tracks}::text[])
           as c (id, first_id, parts, track)
     cross join lateral (select * from message_bodies where message_id = c.first_id offset 0) b`)
}

export function copyAttachments(db: Db, copies: Copy[]) {
  return db.runLast(sql`
    insert into message_attachments (message_id, position, account_id, filename, content_type, content_id, content)
    select c.id, a.position, a.account_id, a.filename, a.content_type, a.content_id, a.content
      from unnest(${idsOf(copies)}::uuid[], ${firstsOf(copies)}::uuid[]) as c (id, first_id)
     cross join lateral (select * from message_attachments where message_id = c.first_id offset 0) a`)
}

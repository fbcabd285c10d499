import type { Db } from '../../../kernel/db.ts'
import { int, maybe, row, text, texts, time } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { OutreachEvent } from './events.ts'

export type OutreachMessageRow = {
  id: string
  sequence_id: string | null
  prospect_id: string | null
  mailbox_id: string
  step: number | null
  message_id: string
  final_message_id: string | null
  recipient: string
  subject: string
  refs: string[]
  state: string
  sent_at: Date | null
}

const Message = row<OutreachMessageRow>({
  id: text,
  sequence_id: maybe(text),
  prospect_id: maybe(text),
  mailbox_id: text,
  step: maybe(int),
  message_id: text,
  final_message_id: maybe(text),
  recipient: text,
  subject: text,
  refs: texts,
  state: text,
  sent_at: maybe(time),
})

const columns = sql`
  id, sequence_id, prospect_id, mailbox_id, step, message_id, final_message_id, recipient, subject, refs, state,
  sent_at`

const isNamed = (ids: string[]) => sql`
  (message_id = any(${ids}::text[]) or final_message_id = any(${ids}::text[]))`

/** With their angle brackets, ours or those that they went out under. */
export function findByMessageIds(db: Db, accountId: string, ids: string[]) {
  return db.many(
    Message,
    sql`
    select ${columns}
      from outreach_messages
     where account_id = ${accountId} and ${isNamed(ids)}
     order by id`,
  )
}

export type ReportedRefs = { originals: string[]; refs: string[] }

/** The message that a report is about, by our own reference or by its Message-ID. */
export function findReported(db: Db, accountId: string, { originals, refs }: ReportedRefs) {
  return db.maybe(
    Message,
    sql`
    select ${columns}
      from outreach_messages
     where account_id = ${accountId} and (id = any(${refs}::uuid[]) or ${isNamed(originals)})
     order by id = any(${refs}::uuid[]) desc, id desc
     limit 1`,
  )
}

export type ThreadRef = { accountId: string; sequenceId: string; prospectId: string }

/** What really went out, as far as anybody knows, the oldest first. */
export function findThread(db: Db, { accountId, sequenceId, prospectId }: ThreadRef) {
  return db.many(
    Message,
    sql`
    select ${columns}
      from outreach_messages
     where account_id = ${accountId}
       and sequence_id = ${sequenceId}
       and prospect_id = ${prospectId}
       and state in ('sent', 'unconfirmed', 'bounced')
     order by id`,
  )
}

export type NewOutreachMessage = {
  accountId: string
  id: string
  sequenceId: string | null
  prospectId: string | null
  mailboxId: string
  /** null: an answer that a person wrote. */
  step: number | null
  messageId: string
  recipient: string
  subject: string
  text: string
  html?: string
  refs: string[]
  /** queued: the job sends it as soon as it may; a step is handed over by whoever writes its row. */
  state: 'queued' | 'handing'
  /** Of an answer, or of the sequence. */
  mode?: 'live' | 'test'
  leasedUntil?: Date
  at: Date
}

export function insertOutgoing(db: Db, one: NewOutreachMessage) {
  return db.run(sql`
    insert into outreach_messages
      (account_id, id, sequence_id, prospect_id, mailbox_id, step, message_id, recipient, subject, text, html, refs,
       state, mode, leased_until, created_at, sender, sender_name)
    values (${one.accountId}, ${one.id}, ${one.sequenceId}, ${one.prospectId}, ${one.mailboxId}, ${one.step},
            ${one.messageId}, ${one.recipient}, ${one.subject}, ${one.text}, ${one.html ?? null}, ${one.refs},
            ${one.state}, ${one.mode ?? 'live'}, ${one.leasedUntil ?? null}, ${one.at},
            (select email from outreach_mailboxes where account_id = ${one.accountId} and id = ${one.mailboxId}),
            (select name from outreach_mailboxes where account_id = ${one.accountId} and id = ${one.mailboxId}))`)
}

type Copy = { ref: string; messageId: string | null }

/** Its copy was found among what the mailbox has sent: one that nobody answered for did leave. */
export function markFiled(db: Db, accountId: string, { ref, messageId }: Copy, at: Date) {
  return db.run(sql`
    update outreach_messages
       set is_filed = true, final_message_id = nullif(${messageId}::text, message_id),
           state = case state when 'unconfirmed' then 'sent' else state end,
           error = case state when 'unconfirmed' then null else error end,
           sent_at = coalesce(sent_at, ${at})
     where account_id = ${accountId} and id = ${ref} and state in ('unconfirmed', 'sent')`)
}

type MessageRef = { accountId: string; id: string }

/** A server further on refused it. */
export function markBounced(
  db: Db,
  { accountId, id }: MessageRef,
  { error, event }: { error: string; event: OutreachEvent },
) {
  return db.run(sql`
    update outreach_messages
       set state = 'bounced', error = ${error}, events = events || ${JSON.stringify([event])}::jsonb
     where account_id = ${accountId} and id = ${id} and state in ('sent', 'unconfirmed')`)
}

export function addEvent(db: Db, { accountId, id }: MessageRef, event: OutreachEvent) {
  return db.run(sql`
    update outreach_messages
       set events = events || ${JSON.stringify([event])}::jsonb
     where account_id = ${accountId} and id = ${id}`)
}

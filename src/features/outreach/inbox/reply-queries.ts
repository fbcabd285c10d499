import type { Db } from '../../../kernel/db.ts'
import { int, maybe, row, text, texts, time } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'
import type { Classification } from '../reading/classify.ts'

export type NewReply = {
  accountId: string
  kind: 'reply' | 'automatic' | 'bounce' | 'complaint'
  mailboxId: string
  sequenceId: string | null
  prospectId: string | null
  fingerprint: Buffer
  messageId: string | null
  refs: string[]
  sender: string
  senderName: string
  subject: string
  text: string
  html: string | null
  receivedAt: Date
  classification: Classification | null
  confidence: number
  reason: string
  at: Date
}

const Id = row<{ id: string }>({ id: text })

/** Undefined when it was taken before. */
export async function insertReply(db: Db, one: NewReply): Promise<string | undefined> {
  const made = await db.maybe(
    Id,
    sql`
    insert into outreach_replies
      (account_id, kind, mailbox_id, sequence_id, prospect_id, fingerprint, message_id, refs, sender, sender_name,
       subject, body_text, body_html, received_at, classification, confidence, reason, created_at)
    values (${one.accountId}, ${one.kind}, ${one.mailboxId}, ${one.sequenceId}, ${one.prospectId}, ${one.fingerprint},
            ${one.messageId}, ${one.refs}, ${one.sender}, ${one.senderName}, ${one.subject}, ${one.text}, ${one.html},
            ${one.receivedAt}, ${one.classification}, ${one.confidence}, ${one.reason}, ${one.at})
    on conflict (account_id, fingerprint) do nothing
    returning id`,
  )
  return made?.id
}

export type ReplyRef = { accountId: string; id: string }

export function keepSuppressed(db: Db, { accountId, id }: ReplyRef, suppressed: string[]) {
  return db.run(sql`
    update outreach_replies set suppressed = ${suppressed} where account_id = ${accountId} and id = ${id}`)
}

export type ReplyRow = {
  id: string
  sequence_id: string | null
  prospect_id: string | null
  prospect_email: string | null
  mailbox_id: string
  sender: string
  sender_name: string
  subject: string
  body_text: string
  body_html: string | null
  received_at: Date
  classification: Classification | null
  confidence: number
  reason: string
  state: 'new' | 'read' | 'archived'
  message_id: string | null
  refs: string[]
  suppressed: string[]
}

const Reply = row<ReplyRow>({
  id: text,
  sequence_id: maybe(text),
  prospect_id: maybe(text),
  prospect_email: maybe(text),
  mailbox_id: text,
  sender: text,
  sender_name: text,
  subject: text,
  body_text: text,
  body_html: maybe(text),
  received_at: time,
  classification: maybe(text) as never,
  confidence: int,
  reason: text,
  state: text as never,
  message_id: maybe(text),
  refs: texts,
  suppressed: texts,
})

const columns = sql`
  r.id, r.sequence_id, r.prospect_id, p.email as prospect_email, r.mailbox_id, r.sender, r.sender_name, r.subject,
  r.received_at, r.classification, r.confidence, r.reason, r.state, r.message_id, r.refs, r.suppressed`

export type ReplyFilter = {
  state?: string
  /** null: those that nobody could tell. */
  classification?: string | null
  sequenceId?: number
  mailboxId?: number
  prospectId?: number
}

const conditions = (filter: ReplyFilter) => sql`
       and r.kind in ('reply', 'automatic')
       ${when(filter.state, (state) => sql`and r.state = ${state}`)}
       ${when(filter.classification, (word) => sql`and r.classification = ${word}`)}
       ${filter.classification === null ? sql`and r.classification is null` : sql``}
       ${when(filter.sequenceId, (id) => sql`and r.sequence_id = ${id}`)}
       ${when(filter.mailboxId, (id) => sql`and r.mailbox_id = ${id}`)}
       ${when(filter.prospectId, (id) => sql`and r.prospect_id = ${id}`)}`

type Slice = {
  after?: string
  offset: number
  limit: number
  ascending: boolean
  /** Characters of the text of each. */
  longest: number
}

export function listReplies(db: Db, accountId: string, filter: ReplyFilter, slice: Slice) {
  return db.many(
    Reply,
    sql`
    select ${columns}, left(r.body_text, ${slice.longest}) as body_text, null as body_html
      from outreach_replies r
      left join outreach_prospects p on p.account_id = r.account_id and p.id = r.prospect_id
     where r.account_id = ${accountId} ${conditions(filter)}
       ${when(slice.after, (after) => (slice.ascending ? sql`and r.id > ${after}` : sql`and r.id < ${after}`))}
     order by ${slice.ascending ? sql`r.id` : sql`r.id desc`}
     limit ${slice.limit}
    offset ${slice.offset}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export async function countReplies(db: Db, accountId: string, filter: ReplyFilter): Promise<number> {
  const { count } = await db.one(
    Count,
    sql`
    select count(*)::int as count
      from outreach_replies r
     where r.account_id = ${accountId} ${conditions(filter)}`,
  )
  return count
}

/** Held until the transaction ends, when it is about to change. */
export function findReply(db: Db, { accountId, id }: ReplyRef, { hold }: { hold: boolean }) {
  return db.maybe(
    Reply,
    sql`
    select ${columns}, r.body_text, r.body_html
      from outreach_replies r
      left join outreach_prospects p on p.account_id = r.account_id and p.id = r.prospect_id
     where r.account_id = ${accountId} and r.id = ${id} and r.kind in ('reply', 'automatic')
       ${hold ? sql`for update of r` : sql``}`,
  )
}

type Change = {
  state: string
  classification: string | null
  /** null: nobody has said what it is. */
  correctedAt: Date | null
  suppressed: string[]
}

export function updateReply(db: Db, { accountId, id }: ReplyRef, change: Change) {
  const { correctedAt } = change
  return db.run(sql`
    update outreach_replies
       set state = ${change.state}, classification = ${change.classification}, suppressed = ${change.suppressed},
           corrected_at = coalesce(${correctedAt}::timestamptz, corrected_at),
           confidence = case when ${correctedAt}::timestamptz is null then confidence else 1 end,
           reason = case when ${correctedAt}::timestamptz is null then reason else 'said by a person' end
     where account_id = ${accountId} and id = ${id}`)
}

/** Whether the person asked to be left alone in another message as well. */
export async function asksElsewhere(db: Db, { accountId, id }: ReplyRef, email: string): Promise<boolean> {
  const { count } = await db.one(
    Count,
    sql`
    select count(*)::int as count
      from outreach_replies r
      left join outreach_prospects p on p.account_id = r.account_id and p.id = r.prospect_id
     where r.account_id = ${accountId}
       and r.id <> ${id}
       and r.classification = 'unsubscribe'
       and (r.sender = ${email} or p.email = ${email})`,
  )
  return count > 0
}

const Mailbox = row<{ email: string }>({ email: text })

export function findMailboxEmail(db: Db, accountId: string, id: string) {
  return db.maybe(
    Mailbox,
    sql`select email from outreach_mailboxes where account_id = ${accountId} and id = ${id}`,
  )
}

const Classes = row<{ classification: Classification | null; count: number }>({
  classification: maybe(text) as never,
  count: int,
})

/** Of a sequence, by class; what machines say is no answer, except that somebody is away. */
export function countClasses(db: Db, accountId: string, sequenceId: string) {
  return db.many(
    Classes,
    sql`
    select classification, count(*)::int as count
      from outreach_replies
     where account_id = ${accountId}
       and sequence_id = ${sequenceId}
       and (kind = 'reply' or (kind = 'automatic' and classification is not null))
     group by classification`,
  )
}

import type { Db } from '../../kernel/db.ts'
import { bool, bytes, int, json, maybe, row, text, time } from '../../kernel/row.ts'
import { type Sql, sql } from '../../kernel/sql.ts'
import type { Settings } from '../accounts/settings/settings.ts'
import type { Value } from '../contacts/attributes/values.ts'
import { blockedDomain, blockedSender, isOwnWordOf } from '../suppressions/queries.ts'
import type { LastError, Status } from './model.ts'
import type { Parts } from './queue-messages.ts'

export type DueRow = {
  id: string
  account_id: string
  status: Status
  mode: 'live' | 'test'
  stream: 'transactional' | 'marketing'
  sender: string
  recipient: string
  subject: string
  message_id: string
  /** The time it was to leave: that of acceptance, the scheduled one, or that of its turn in a campaign. */
  due_from: Date
  /** Of the first try that was made; null before it. */
  tried_since: Date | null
  /** Of its tries those of which nobody heard whether it was taken. */
  unsure_tries: number
  /** Octets of its body and of its attachments. */
  body_size: number
  attached_size: number
  /** A large body is not here: those that wait together would fill the memory. */
  parts: Parts | null
  raw: Buffer | null
  /** `letters`: of its recipient's address, where no header shows them. */
  track: { opens?: boolean; clicks?: boolean; letters?: string }
  suppressed: string | null
  /** Its person was erased while it was written down: it was not there to be erased with the rest. */
  is_erased: boolean
  /** The contact that it was written to is gone, or has another address by now. */
  is_contact_gone: boolean
  /** Whether soft bounces of its recipient are counted. */
  has_soft_bounces: boolean
  /** What the recipient said about being tracked; null when nobody asked. */
  tracking_consent: boolean | null
  /** One of a campaign has no body of its own: it is made from the campaign and what follows. */
  campaign_id: string | null
  list_id: string | null
  variant: string | null
  /** Of a campaign's recipient; null when the address is no contact's any more. */
  attributes: Record<string, Value> | null
  /** What the account changed. */
  settings: Partial<Settings>
}

const Due = row<DueRow>({
  id: text,
  account_id: text,
  status: json(),
  mode: json(),
  stream: json(),
  sender: text,
  recipient: text,
  subject: text,
  message_id: text,
  due_from: time,
  tried_since: maybe(time),
  unsure_tries: int,
  body_size: int,
  attached_size: int,
  parts: json(),
  raw: maybe(bytes),
  track: json(),
  suppressed: maybe(text),
  is_erased: bool,
  is_contact_gone: bool,
  has_soft_bounces: bool,
  tracking_consent: maybe(bool),
  campaign_id: maybe(text),
  list_id: maybe(text),
  variant: maybe(text),
  attributes: json(),
  settings: json(),
})

const mostLoaded = 65_536

export const isBodyApart = ({ body_size }: DueRow) => body_size > mostLoaded

// Without reading a body that is apart, which is stored in about a quarter of its length; what is small may hold a lot
// that repeats itself.
const bodySize = sql`
  coalesce(octet_length(b.raw), 0)
  + case when pg_column_size(b.parts) < 2000 then pg_column_size(b.parts)
         when pg_column_size(b.parts) > ${mostLoaded} then 4 * pg_column_size(b.parts)
         else coalesce(octet_length(b.parts::text), 0) end`
// An empty file is one all the same.
const attachedSize = sql`
  (select coalesce(sum(greatest(1, octet_length(a.content))), 0)::int
     from message_attachments a
    where a.account_id = m.account_id and a.message_id = m.id)`
const ifLight = sql`case when z.body_size <= ${mostLoaded} then`

const hasSoftBounces = sql`
  (select true
     from soft_bounces f
    where f.account_id = m.account_id and f.email = m.recipient) is not null`

/** Of a campaign's or an automation's recipient: all lists, or the one that brought them. */
const whetherTheyLeft = sql`
  case when (m.campaign_id is not null or m.source = 'automation')
        and (c.status = 'unsubscribed'
             or exists (select 1
                          from list_unsubscriptions u
                         where u.account_id = m.account_id
                           and u.contact_id = c.id
                           and u.list_id = m.list_id)) then 'unsubscribe' end`

/** Freezing a campaign fixed who its recipients are, and a step of an automation whom it is for; not that they stay. */
const isContactGone = sql`
  case when m.campaign_id is not null then c.id is null
       when b.track ? 'contactId' then c.id::text is distinct from b.track ->> 'contactId'
       else false end`

const domainBlock = sql`
  (select ${blockedDomain}::text
     from blocked_domains d
    where d.account_id = m.account_id and d.domain = split_part(m.recipient, '@', -1))`

/**
 * With the reason when the address was suppressed, or the recipient of a campaign or an automation left, after
 * acceptance; not by whom asked for just this message.
 */
export function loadDue(db: Db, ids: string[]) {
  return db.many(
    Due,
    sql`
    -- all accounts: the worker serves them all
    select m.id, m.account_id, m.status, m.mode, m.stream, m.sender, m.recipient, m.subject, m.message_id,
           coalesce(m.scheduled_at, m.created_at) as due_from, m.tried_since, m.unsure_tries,
           coalesce(b.track, '{}') as track, z.body_size,
           ${ifLight} b.parts end as parts, ${ifLight} b.raw end as raw,
           coalesce(s.reason, e.reason,
                    ${domainBlock},
                    (select ${blockedSender}::text
                       from blocked_senders x
                      where m.stream = 'transactional' and x.account_id = m.account_id
                        and x.email = m.recipient and x.sender = lower(m.sender)),
                    ${whetherTheyLeft}) as suppressed,
           e.reason is not null as is_erased, ${isContactGone} as is_contact_gone,
           ${hasSoftBounces} as has_soft_bounces, c.tracking_consent,
           ${attachedSize} as attached_size, m.campaign_id, m.list_id, m.variant,
           case when m.campaign_id is null then null
                when c.sms is null then c.attributes
                else c.attributes || jsonb_build_object('SMS', c.sms) end as attributes,
           account.settings
      from messages m
      join accounts account on account.id = m.account_id
      left join message_bodies b on b.message_id = m.id
      cross join lateral (select ${bodySize} as body_size offset 0) z
      -- Found by their name ("is true" keeps the planner from the indexes that begin with the account): where an
      -- account has a few hundred, all of them would be held against each message.
      left join suppressions s on (s.account_id = m.account_id) is true and s.email = m.recipient
            and not (coalesce(b.track ? 'asked', false) and ${isOwnWordOf})
      -- Apart from the rest, so that it is made once for a recipient.
      cross join lateral (
            select erased_name(m.recipient, (select address_key from installation)) as erased offset 0) n
      left join suppressions e on (e.account_id = m.account_id) is true and e.email = n.erased
      left join contacts c on c.account_id = m.account_id and c.email = m.recipient
     where m.id = any(${ids}::uuid[])
       and (b.message_id is not null or m.campaign_id is not null)`,
  )
}

type BodyRow = Pick<DueRow, 'parts' | 'raw'>

const Body = row<BodyRow>({ parts: json(), raw: maybe(bytes) })

/** Nothing when the message is gone by now. */
export function loadBody(db: Db, messageId: string) {
  return db.maybe(
    Body,
    sql`
    -- all accounts: the worker serves them all
    select parts, raw from message_bodies where message_id = ${messageId}`,
  )
}

export type AttachmentRow = {
  filename: string
  content_type: string
  content_id: string | null
  content: Buffer
}

const AttachmentOf = row<AttachmentRow>({
  filename: text,
  content_type: text,
  content_id: maybe(text),
  content: bytes,
})

export function loadAttachments(db: Db, accountId: string, messageId: string) {
  return db.many(
    AttachmentOf,
    sql`
    select filename, content_type, content_id, content
      from message_attachments
     where account_id = ${accountId}
       and message_id = ${messageId}
     order by position`,
  )
}

/** What became of one hand-over. */
export type Settled = {
  id: string
  status: Status
  at: Date
  attempts: number
  /** Of the attempts those of which nobody heard whether the message was taken. */
  unsureTries: number
  /** How many tries its row in the queue counted when it was claimed. */
  claim: number
  error: LastError | null
  upstreamId: string | null
  /** When to try again; null: the message leaves the queue. */
  dueAt: Date | null
  heldReason: string | null
  /** What a campaign's subject became for this recipient. */
  subject: string | null
  /** Of one that waits for its next try: when the first was made. */
  triedSince: Date | null
}

/** The transaction itself, or what it carries out with its commit. */
export type Runs = { run(statement: Sql): Promise<unknown> }

/** That it waits is said by whoever has it: another may be handing it over by now. */
export function settleMessages(db: Runs, settled: Settled[]) {
  const column = <K extends keyof Settled>(name: K) => settled.map((one) => one[name])
  return db.run(sql`
    -- all accounts: the worker serves them all
    update messages m
       set status = s.status,
           attempts = s.attempts,
           unsure_tries = s.unsure_tries,
           last_error = s.error,
           held_reason = s.held_reason,
           upstream_id = coalesce(s.upstream_id, m.upstream_id),
           sent_at = case when s.status = 'sent' then s.at else m.sent_at end,
           subject = coalesce(s.subject, m.subject),
           tried_since = coalesce(m.tried_since, s.tried_since)
      from unnest(${column('id')}::uuid[], ${column('status')}::text[], ${column('at')}::timestamptz[],
                  ${column('attempts')}::int[], ${column('unsureTries')}::int[],
                  ${settled.map(({ error }) => (error ? JSON.stringify(error) : null))}::jsonb[],
                  ${column('upstreamId')}::text[], ${column('heldReason')}::text[], ${column('subject')}::text[],
                  ${column('claim')}::int[], ${column('triedSince')}::timestamptz[])
           as s (id, status, at, attempts, unsure_tries, error, upstream_id, held_reason, subject, claim, tried_since)
     where m.id = s.id
       and m.status in ('queued', 'held')
       and (s.status not in ('queued', 'held')
            or s.claim = (select q.attempts from delivery_queue q where q.message_id = m.id))`)
}

/** The counts of campaigns keep them, as those of other erased people. */
export function dropMessages(db: Runs, ids: string[]) {
  return db.run(sql`
    -- all accounts: the worker serves them all
    with bodies as (delete from message_bodies where message_id = any(${ids}::uuid[])),
    files as (delete from message_attachments where message_id = any(${ids}::uuid[]))
    delete from messages where id = any(${ids}::uuid[])`)
}

export function leaveQueue(db: Runs, ids: string[]) {
  return db.run(sql`
    -- all accounts: the worker serves them all
    delete from delivery_queue where message_id = any(${ids}::uuid[])`)
}

/** Unless the lease was over and somebody else has it by now. */
export function requeue(db: Runs, settled: Settled[]) {
  const column = <K extends keyof Settled>(name: K) => settled.map((one) => one[name])
  return db.run(sql`
    -- all accounts: the worker serves them all
    update delivery_queue q
       set due_at = s.due_at, attempts = s.attempts
      from unnest(${column('id')}::uuid[], ${column('dueAt')}::timestamptz[], ${column('attempts')}::int[],
                  ${column('claim')}::int[])
           as s (id, due_at, attempts, claim)
     where q.message_id = s.id
       and q.attempts = s.claim`)
}

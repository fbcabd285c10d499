// What is to be told: claimed a webhook at a time, so that one process serves it and nobody else sends the same.
import type { Db } from '../../kernel/db.ts'
import { bool, bytes, int, json, maybe, row, text, texts, time } from '../../kernel/row.ts'
import { type Sql, sql, when } from '../../kernel/sql.ts'
import type { WebhookType } from './events.ts'

export type TurnRow = {
  id: string
  account_id: string
  type: WebhookType
  url: string
  batched: boolean
  sealed: Buffer
  modified_at: Date
  failing_since: Date | null
  /** When the last call began that failed. */
  failed_at: Date | null
  turn: string
  /** null: the account has not changed it. */
  timezone: string | null
}

const Turn = row<TurnRow>({
  id: text,
  account_id: text,
  type: json(),
  url: text,
  batched: bool,
  sealed: bytes,
  modified_at: time,
  failing_since: maybe(time),
  failed_at: maybe(time),
  turn: text,
  timezone: maybe(text),
})

export type Claim = {
  inTrouble: boolean
  limit: number
  leaseSeconds: number
  now: Date
  /** How long the events of one that takes them together are gathered. */
  gatheredSince: Date
}

/** A batch that is full does not wait any longer. */
export const largestBatch = 500

/** Those that have anything in the queue, found by skipping through its index. */
export const waitingWebhooks = sql`
    -- all accounts: the worker serves them all
    waiting (webhook_id) as (
      (select webhook_id from webhook_queue order by webhook_id limit 1)
      union all
      select (select q.webhook_id
                from webhook_queue q
               where q.webhook_id > w.webhook_id
               order by q.webhook_id
               limit 1)
        from waiting w
       where w.webhook_id is not null)`

/**
 * Webhooks that have something to do, those that waited longest first. The cost follows their number and not that of
 * the events. Each is leased for a while: one whose process dies is another's by that alone.
 */
export function claimTurns(db: Db, claim: Claim) {
  return db.many(
    Turn,
    sql`
    -- all accounts: the worker serves them all
    with recursive ${waitingWebhooks}, picked as materialized (
      select w.id
        from waiting n
        join webhooks w on w.id = n.webhook_id
       where w.in_trouble = ${claim.inTrouble}
         and w.disabled_at is null
         and (w.leased_until is null or w.leased_until <= clock_timestamp())
         and (w.paused_until is null or w.paused_until <= ${claim.now})
         and (exists (select 1
                        from webhook_queue q
                       where q.webhook_id = w.id
                         and q.due_at <= ${claim.now}
                         and (not w.batched or q.batch_id is not null or q.due_at <= ${claim.gatheredSince}))
              or (w.batched and exists (select 1
                                          from webhook_queue q
                                         where q.webhook_id = w.id and q.due_at <= ${claim.now}
                                        offset ${largestBatch - 1})))
       order by w.leased_until nulls first
       limit ${claim.limit}
         for update of w skip locked)
    update webhooks w
       set leased_until = clock_timestamp() + make_interval(secs => ${claim.leaseSeconds}), turn = w.turn + 1
      from picked p, accounts a
     where w.id = p.id
       and a.id = w.account_id
    returning w.id, w.account_id, w.type, w.url, w.batched, w.sealed, w.modified_at, w.failing_since,
              w.failed_at, w.turn,
              a.settings ->> 'timezone' as timezone`,
  )
}

export type QueuedRow = {
  webhook_id: string
  id: string
  /** Exactly, which a Date is not. */
  due: string
  event: string
  batch_id: string | null
  attempts: number
  email: string | null
  data: Record<string, unknown> | null
  message_id: string | null
  /** When it happened. Without this or a recipient the message of an event is gone. */
  at: Date | null
  event_data: Record<string, unknown> | null
  recipient: string | null
  rfc_id: string | null
  subject: string | null
  source: string | null
  sender: string | null
  tags: string[] | null
  tag: string | null
  metadata: Record<string, string> | null
  template_id: string | null
  template_name: string | null
  contact_id: string | null
  campaign_id: string | null
  campaign_name: string | null
  list_id: string | null
  /** Of a campaign's message. */
  sent_at: Date | null
}

const Queued = row<QueuedRow>({
  webhook_id: text,
  id: text,
  due: text,
  event: text,
  batch_id: maybe(text),
  attempts: int,
  email: maybe(text),
  data: json(),
  message_id: maybe(text),
  at: maybe(time),
  event_data: json(),
  recipient: maybe(text),
  rfc_id: maybe(text),
  subject: maybe(text),
  source: maybe(text),
  sender: maybe(text),
  tags: maybe(texts),
  tag: maybe(text),
  metadata: json(),
  template_id: maybe(text),
  template_name: maybe(text),
  contact_id: maybe(text),
  campaign_id: maybe(text),
  campaign_name: maybe(text),
  list_id: maybe(text),
  sent_at: maybe(time),
})

// Each row by its key, one at a time: whoever plans this cannot know how few there are.
const loaded = (queued: Sql) => sql`
    -- all accounts: the worker serves them all
    select q.webhook_id, q.id, q.due_at::text as due, q.event, q.batch_id, q.attempts, q.email, q.data, q.message_id,
           case when q.message_id is null then q.created_at
                when q.event = 'request' then m.created_at
                else e.at end as at,
           e.data as event_data,
           m.recipient, m.message_id as rfc_id, m.subject, m.source, m.sender,
           m.tags, m.tag, m.metadata, m.template_id, t.name as template_name, c.id as contact_id, m.campaign_id,
           p.name as campaign_name, m.list_id, case when m.campaign_id is not null then m.sent_at end as sent_at
      from (${queued}) q
      left join lateral (
           select at, data from message_events where account_id = q.account_id and id = q.event_id limit 1) e on true
      left join lateral (select * from messages where id = q.message_id limit 1) m on true
      left join lateral (
           select id from contacts where account_id = q.account_id and email = m.recipient limit 1) c on true
      left join lateral (
           select name from campaigns where account_id = q.account_id and id = m.campaign_id limit 1) p on true
      left join lateral (
           select name from templates where account_id = q.account_id and id = m.template_id limit 1) t on true
     order by q.due_at, q.id`

type Wanted = { now: Date; limit: number; after?: QueuedRow }

/** What is due for each of these webhooks, the same number at most for all. */
export function loadDue(db: Db, ids: string[], { now, limit, after }: Wanted) {
  return db.many(
    Queued,
    loaded(sql`
      -- all accounts: the worker serves them all
      select d.*
        from unnest(${ids}::bigint[]) as w (id)
       cross join lateral (select *
                             from webhook_queue q
                            where q.webhook_id = w.id
                              and q.due_at <= ${now}
                              ${when(after, (last) => sql`and (q.due_at, q.id) > (${last.due}, ${last.id})`)}
                            order by q.due_at, q.id
                            limit ${limit}) d`),
  )
}

/** What goes together: what went together before and is due again, or all that has been gathered since. */
export async function loadBatch(db: Db, id: string, { now, batchId }: { now: Date; batchId: string }) {
  const Batch = row<{ batch_id: string }>({ batch_id: text })
  const [batch] = await db.many(
    Batch,
    sql`
    -- all accounts: the worker serves them all
    with first as materialized (
      select batch_id
        from webhook_queue
       where webhook_id = ${id} and due_at <= ${now}
       order by batch_id is null, due_at, id
       limit 1
    ), picked as materialized (
      select id
        from webhook_queue q
       where webhook_id = ${id}
         and due_at <= ${now}
         and batch_id is not distinct from (select batch_id from first)
       order by due_at, id
       limit ${largestBatch}),
    taken as (
      update webhook_queue q
         set batch_id = coalesce(q.batch_id, ${batchId}::uuid)
        from picked p
       where q.webhook_id = ${id}
         and q.id = p.id
      returning q.batch_id)
    select batch_id from taken limit 1`,
  )
  if (!batch) return []
  return db.many(
    Queued,
    loaded(sql`
      -- all accounts: the worker serves them all
      select * from webhook_queue where webhook_id = ${id} and batch_id = ${batch.batch_id}`),
  )
}

export type Tried = {
  webhookId: string
  id: string
  attempts: number
  at: Date
  isDelivered: boolean
  /** When to try again; null: it is over. */
  dueAt: Date | null
  statusCode: number | null
  answer: string | null
  error: string | null
}

export function recordCalls(db: Db, tried: Tried[]) {
  const column = <K extends keyof Tried>(name: K) => tried.map((one) => one[name])
  return db.run(sql`
    select record_webhook_calls(${column('webhookId')}, ${column('id')}, ${column('attempts')}, ${column('at')},
                                ${column('isDelivered')}, ${column('dueAt')}, ${column('statusCode')},
                                ${column('answer')}, ${column('error')})`)
}

export type PutOff = Pick<QueuedRow, 'webhook_id' | 'id' | 'due'> & { dueAt: Date }

/**
 * No attempt of their own. In the order they have here, and not what somebody has hurried since; nor those of a webhook
 * that was changed.
 */
export function putOffQueued(db: Db, putOff: (PutOff & { modifiedAt: Date })[]) {
  return db.run(sql`
    -- all accounts: the worker serves them all
    update webhook_queue q
       set due_at = g.due_at + g.n * interval '1 microsecond'
      from unnest(${putOff.map((one) => one.webhook_id)}::bigint[], ${putOff.map(({ id }) => id)}::uuid[],
                  ${putOff.map(({ due }) => due)}::timestamptz[], ${putOff.map(({ dueAt }) => dueAt)}::timestamptz[],
                  ${putOff.map(({ modifiedAt }) => modifiedAt)}::timestamptz[])
           with ordinality as g (webhook_id, id, due, due_at, modified_at, n)
      join webhooks w on w.id = g.webhook_id and w.modified_at = g.modified_at
     where q.webhook_id = g.webhook_id
       and q.id = g.id
       and q.due_at = g.due`)
}

/** Their messages are gone, and with them what there was to tell. */
export function dropQueued(db: Db, dropped: { webhook_id: string; id: string }[]) {
  return db.run(sql`
    -- all accounts: the worker serves them all
    delete from webhook_queue q
     using unnest(${dropped.map((one) => one.webhook_id)}::bigint[], ${dropped.map(({ id }) => id)}::uuid[])
           as g (webhook_id, id)
     where q.webhook_id = g.webhook_id
       and q.id = g.id`)
}

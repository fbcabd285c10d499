import type { Db } from '../../kernel/db.ts'
import { bool, bytes, int, json, maybe, row, text, texts, time } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import type { WebhookType } from './events.ts'

export type WebhookRow = {
  id: string
  type: WebhookType
  url: string
  description: string
  events: string[]
  batched: boolean
  sealed: Buffer
  created_at: Date
  modified_at: Date
  disabled_at: Date | null
  disabled_reason: string | null
  /** The receiver asked to be left alone until then. */
  paused_until: Date | null
}

const Webhook = row<WebhookRow>({
  id: text,
  type: json(),
  url: text,
  description: text,
  events: texts,
  batched: bool,
  sealed: bytes,
  created_at: time,
  modified_at: time,
  disabled_at: maybe(time),
  disabled_reason: maybe(text),
  paused_until: maybe(time),
})

const columns = sql`id, type, url, description, events, batched, sealed, created_at, modified_at, disabled_at,
  disabled_reason, paused_until`

type Ref = { accountId: string; id: string }

export function findWebhook(db: Db, { accountId, id }: Ref) {
  return db.maybe(
    Webhook,
    sql`select ${columns} from webhooks where account_id = ${accountId} and id = ${id}`,
  )
}

/** Nobody else changes it until the transaction ends. */
export function lockWebhook(db: Db, { accountId, id }: Ref) {
  return db.maybe(
    Webhook,
    sql`select ${columns} from webhooks where account_id = ${accountId} and id = ${id} for update`,
  )
}

export function listWebhooks(db: Db, accountId: string, type: WebhookType) {
  return db.many(
    Webhook,
    sql`
    select ${columns}
      from webhooks
     where account_id = ${accountId}
       and type in (${type}, ${type === 'transactional' ? 'sms' : type})
     order by id desc`,
  )
}

const Count = row<{ count: number }>({ count: int })

/** Two creations at once take turns, so that both count. */
export async function countLocked(db: Db, accountId: string): Promise<number> {
  await db.run(sql`select pg_advisory_xact_lock(hashtextextended('webhooks', ${accountId}::bigint))`)
  const counted = await db.one(
    Count,
    sql`select count(*)::int as count from webhooks where account_id = ${accountId}`,
  )
  return counted.count
}

const Id = row<{ id: string }>({ id: text })

/** Known before the row is written: its secrets are sealed for it. */
export function takeId(db: Db) {
  return db.one(Id, sql`select nextval(pg_get_serial_sequence('webhooks', 'id')) as id`)
}

export type WebhookFields = Pick<
  WebhookRow,
  'type' | 'url' | 'description' | 'events' | 'batched' | 'sealed'
> & {
  toldOf: string[]
}

export function insertWebhook(db: Db, { accountId, id }: Ref, one: WebhookFields, at: Date) {
  return db.run(sql`
    insert into webhooks
      (account_id, id, type, url, description, events, told_of, batched, sealed, created_at, modified_at)
    values (${accountId}, ${id}, ${one.type}, ${one.url}, ${one.description}, ${one.events}, ${one.toldOf},
            ${one.batched}, ${one.sealed}, ${at}, ${at})`)
}

/** A change switches it on again. */
export function updateWebhook(db: Db, { accountId, id }: Ref, one: WebhookFields, at: Date) {
  return db.run(sql`
    update webhooks
       set url = ${one.url}, description = ${one.description}, events = ${one.events}, told_of = ${one.toldOf},
           batched = ${one.batched}, sealed = ${one.sealed}, modified_at = ${at}, disabled_at = null,
           disabled_reason = null, failing_since = null, failed_at = null, in_trouble = false, paused_until = null
     where account_id = ${accountId}
       and id = ${id}`)
}

/** What waits for its next try is due at once, those that waited longest first. */
export function hurryQueued(db: Db, { accountId, id }: Ref, { at, limit }: { at: Date; limit: number }) {
  return db.run(sql`
    update webhook_queue q
       set due_at = ${at}
      from (select webhook_id, id
              from webhook_queue
             where account_id = ${accountId} and webhook_id = ${id} and due_at > ${at}
             order by due_at, id
             limit ${limit}) p
     where q.account_id = ${accountId}
       and q.webhook_id = p.webhook_id
       and q.id = p.id`)
}

/** Whoever asks for a call now asks for it in spite of what the receiver asked for. */
export function liftPause(db: Db, { accountId, id }: Ref, at: Date) {
  return db.run(sql`
    update webhooks
       set paused_until = null, lifted_at = ${at}
     where account_id = ${accountId} and id = ${id}`)
}

/** It stays on or off, as it was. */
export function updateSealed(db: Db, { accountId, id }: Ref, sealed: Buffer, at: Date) {
  return db.run(sql`
    update webhooks set sealed = ${sealed}, modified_at = ${at} where account_id = ${accountId} and id = ${id}`)
}

/** What is queued for it is removed by a job. */
export function deleteWebhook(db: Db, { accountId, id }: Ref) {
  return db.run(sql`delete from webhooks where account_id = ${accountId} and id = ${id}`)
}

// What happened to an SMS, and what its upstream says of it.
import type { Db } from '../../kernel/db.ts'
import { row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import type { Ref } from './delivery-queries.ts'
import type { EventType } from './model.ts'

export type NewEvent = { id: string; type: EventType; at: Date; data: object }

/** Of one that is still there. Upstreams repeat themselves: only answers may come more than once. */
export function insertEvent(db: Db, { accountId, id: messageId }: Ref, { id, type, at, data }: NewEvent) {
  return db.run(sql`
    insert into sms_events (account_id, id, message_id, type, at, data)
    select m.account_id, ${id}::uuid, m.id, ${type}, ${at}::timestamptz, ${JSON.stringify(data)}::jsonb
      from sms_messages m
     where m.account_id = ${accountId}
       and m.id = ${messageId}
       and (${type} = 'replied'
            or not exists (select 1
                             from sms_events e
                            where e.account_id = m.account_id and e.message_id = m.id and e.type = ${type}))
       for key share of m`)
}

export type Target = { id: string; account_id: string; recipient: string }

const TargetShape = row<Target>({ id: text, account_id: text, recipient: text })

/** The row stays locked: what is recorded about one SMS is recorded one after the other. */
export function findByRef(db: Db, id: string) {
  return db.maybe(
    TargetShape,
    sql`
    -- all accounts: an upstream knows the message, not its account
    select id, account_id, recipient from sms_messages where id = ${id} and mode = 'live' for update`,
  )
}

export function findByUpstreamId(db: Db, upstreamId: string) {
  return db.maybe(
    TargetShape,
    sql`
    -- all accounts: an upstream knows the message, not its account
    select id, account_id, recipient
      from sms_messages
     where upstream_id = ${upstreamId} and mode = 'live'
     order by id
     limit 1
       for update`,
  )
}

/**
 * Whoever answers means the last one that they got, or one that they may have got without our hearing of it; the oldest
 * first, as whoever locks several does.
 */
export function listLastTo(db: Db, phone: string) {
  return db.many(
    TargetShape,
    sql`
    -- all accounts: an answer names the number that it comes from, and nothing else
    select id, account_id, recipient
      from sms_messages
     where recipient = ${phone}
       and mode = 'live'
       and ((status = 'queued' and attempts > 0)
            or id = (select max(id)
                       from sms_messages
                      where recipient = ${phone} and mode = 'live' and sent_at is not null))
     order by id
       for update`,
  )
}

export function markDelivered(db: Db, { accountId, id }: Ref, at: Date) {
  return db.run(sql`
    update sms_messages
       set status = 'delivered', delivered_at = ${at}, sent_at = coalesce(sent_at, ${at}), due_at = null,
           last_error = null
     where account_id = ${accountId}
       and id = ${id}
       and status <> 'delivered'`)
}

/** True when it was under way. */
export async function markFailed(db: Db, { accountId, id }: Ref, error: string): Promise<boolean> {
  const changed = await db.run(sql`
    update sms_messages
       set status = 'failed', last_error = ${error}, due_at = null
     where account_id = ${accountId}
       and id = ${id}
       and status in ('queued', 'sent')`)
  return changed > 0
}

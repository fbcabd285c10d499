// Deliveries as the account sees them: what waits, and what is over.
import type { Db } from '../../kernel/db.ts'
import { int, json, maybe, row, text, time } from '../../kernel/row.ts'
import { type Sql, sql, when } from '../../kernel/sql.ts'
import type { Slice } from '../../kernel/v3/paging.ts'

export const statuses = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof statuses)[number]

export type DeliveryRow = {
  id: string
  event: string
  status: DeliveryStatus
  email: string | null
  rfc_id: string | null
  attempts: number
  created_at: Date
  attempted_at: Date | null
  due_at: Date | null
  status_code: number | null
  answer: string | null
  error: string | null
}

const Delivery = row<DeliveryRow>({
  id: text,
  event: text,
  status: json(),
  email: maybe(text),
  rfc_id: maybe(text),
  attempts: int,
  created_at: time,
  attempted_at: maybe(time),
  due_at: maybe(time),
  status_code: maybe(int),
  answer: maybe(text),
  error: maybe(text),
})

export type Ref = { accountId: string; webhookId: string }

type Wanted = { status?: DeliveryStatus }

const finishedOnly = ({ status }: Wanted) =>
  when(status, (one) =>
    one === 'pending' ? sql`and false` : one === 'failed' ? sql`and not is_delivered` : sql`and is_delivered`,
  )
const waitingOnly = ({ status }: Wanted) =>
  when(status, (one) => (one === 'pending' ? sql`` : sql`and false`))

function pageOf({ accountId, webhookId }: Ref, slice: Slice, narrowed: Sql) {
  const order = slice.ascending ? sql`id` : sql`id desc`
  return sql`
       where account_id = ${accountId}
         and webhook_id = ${webhookId}
         ${narrowed}
         ${when(slice.after, (after) => (slice.ascending ? sql`and id > ${after}` : sql`and id < ${after}`))}
       order by ${order}
       limit ${slice.limit + slice.offset}`
}

export function listDeliveries(db: Db, ref: Ref, wanted: Wanted, slice: Slice) {
  return db.many(
    Delivery,
    sql`
    select d.id, d.event, d.status, coalesce(m.recipient, d.email) as email, m.message_id as rfc_id, d.attempts,
           d.created_at, d.attempted_at, d.due_at, d.status_code, d.answer, d.error
      from (
        select *
          from (
            (select id, event, 'pending' as status, message_id, email, attempts, created_at, attempted_at, due_at,
                    status_code, answer, error
               from webhook_queue
             ${pageOf(ref, slice, waitingOnly(wanted))})
            union all
            (select id, event, case when is_delivered then 'delivered' else 'failed' end, message_id, email, attempts,
                    created_at, attempted_at, null, status_code, answer, error
               from webhook_deliveries
             ${pageOf(ref, slice, finishedOnly(wanted))})) both_kinds
         order by ${slice.ascending ? sql`id` : sql`id desc`}
         limit ${slice.limit}
        offset ${slice.offset}) d
      left join messages m on m.account_id = ${ref.accountId} and m.id = d.message_id
     order by ${slice.ascending ? sql`d.id` : sql`d.id desc`}`,
  )
}

const Count = row<{ count: number }>({ count: int })

/** There may be millions: beyond `most` nobody counts. */
export function countDeliveries(db: Db, { accountId, webhookId }: Ref, wanted: Wanted, most: number) {
  return db.one(
    Count,
    sql`
    select count(*)::int as count
      from ((select 1
               from webhook_queue
              where account_id = ${accountId} and webhook_id = ${webhookId} ${waitingOnly(wanted)}
              limit ${most})
            union all
            (select 1
               from webhook_deliveries
              where account_id = ${accountId} and webhook_id = ${webhookId} ${finishedOnly(wanted)}
              limit ${most})) counted`,
  )
}

type Again = Ref & { id: string; at: Date; batchId: string | null }

/**
 * True when there is one; it is due at once, with all its attempts before it. One that waits may be over before the
 * second statement, which then finds it; the way back is taken by one replay at a time.
 */
export async function replayDelivery(
  db: Db,
  { accountId, webhookId, id, at, batchId }: Again,
): Promise<boolean> {
  await db.run(sql`select pg_advisory_xact_lock(hashtextextended('webhook replays', ${webhookId}::bigint))`)
  const hurried = await db.run(sql`
    update webhook_queue
       -- What is due already is marked as hurried all the same: nobody puts it off then.
       set due_at = case when due_at > ${at} then ${at} else due_at - interval '1 microsecond' end,
           batch_id = coalesce(batch_id, ${batchId}::uuid)
     where account_id = ${accountId} and webhook_id = ${webhookId} and id = ${id}`)
  if (hurried > 0) return true
  const moved = await db.run(sql`
    with again as (
      delete from webhook_deliveries
       where account_id = ${accountId} and webhook_id = ${webhookId} and id = ${id}
      returning *)
    insert into webhook_queue
      (webhook_id, id, account_id, event, message_id, event_id, email, data, batch_id, created_at, due_at)
    select webhook_id, id, account_id, event, message_id, event_id, email, data, ${batchId}::uuid, created_at, ${at}
      from again`)
  return moved > 0
}

export type NewDelivery = Ref & {
  id: string
  event: string
  email: string | null
  data: object
  batchId: string | null
  at: Date
}

export function insertDelivery(db: Db, one: NewDelivery) {
  return db.run(sql`
    insert into webhook_queue (webhook_id, id, account_id, event, email, data, batch_id, created_at, due_at)
    values (${one.webhookId}, ${one.id}, ${one.accountId}, ${one.event}, ${one.email},
            ${JSON.stringify(one.data)}::jsonb, ${one.batchId}, ${one.at},
            -- Before all that waits: where much does, whoever tests would learn nothing for a while.
            coalesce((select least(min(due_at) - interval '1 millisecond', ${one.at}::timestamptz)
                        from webhook_queue
                       where account_id = ${one.accountId} and webhook_id = ${one.webhookId}), ${one.at}))`)
}

export type Announced = { accountId: string; word: string; event: string; data: object; at: Date }

export function announceTo(db: Db, { accountId, word, event, data, at }: Announced) {
  return db.run(sql`
    insert into webhook_queue (webhook_id, id, account_id, event, data, created_at, due_at)
    select id, ordered_uuid(${at.getTime()}::bigint, row_number() over (order by id)), account_id, ${event},
           ${JSON.stringify(data)}::jsonb, ${at}, ${at}
      from webhooks
     where account_id = ${accountId}
       and disabled_at is null
       and ${word} = any(events)`)
}

// How a webhook's receiver does, written at the end of each turn.
import type { Db } from '../../kernel/db.ts'
import { int, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { waitingWebhooks } from './queue-queries.ts'

export type Ended = {
  accountId: string
  id: string
  turn: string
  /** Of the webhook when the turn began: what is said of its receiver then is not said of a changed one. */
  modifiedAt: Date
  failingSince: Date | null
  failedAt: Date | null
  inTrouble: boolean
  pausedUntil: Date | null
  /** When the call began that was answered so. */
  pausedAt: Date | null
  disabledAt: Date | null
  disabledReason: string | null
}

const Disabled = row<{ id: string; reason: string }>({ id: text, reason: text })

/** Whoever is too late, because the lease has ended, changes nothing. Gives those that are switched off by it. */
export async function endTurns(db: Db, ended: Ended[]) {
  const column = <K extends keyof Ended>(name: K) => ended.map((one) => one[name])
  return db.many(
    Disabled,
    sql`
    with ended as (
    update webhooks w
       -- Over; and who was served longest ago comes next.
       set leased_until = clock_timestamp(),
           failing_since = case when w.modified_at = g.modified_at then g.failing_since else w.failing_since end,
           failed_at = case when w.modified_at = g.modified_at then g.failed_at else w.failed_at end,
           in_trouble = w.modified_at = g.modified_at and g.in_trouble,
           paused_until = case when w.modified_at = g.modified_at and coalesce(w.lifted_at <= g.paused_at, true)
                               then g.paused_until end,
           disabled_at = case when w.modified_at = g.modified_at then g.disabled_at end,
           disabled_reason = case when w.modified_at = g.modified_at then g.disabled_reason end
      from unnest(${column('accountId')}::bigint[], ${column('id')}::bigint[], ${column('turn')}::bigint[],
                  ${column('modifiedAt')}::timestamptz[], ${column('failingSince')}::timestamptz[],
                  ${column('inTrouble')}::boolean[], ${column('pausedUntil')}::timestamptz[],
                  ${column('pausedAt')}::timestamptz[], ${column('disabledAt')}::timestamptz[],
                  ${column('disabledReason')}::text[], ${column('failedAt')}::timestamptz[])
           as g (account_id, id, turn, modified_at, failing_since, in_trouble, paused_until, paused_at,
                 disabled_at, disabled_reason, failed_at)
     where w.account_id = g.account_id
       and w.id = g.id
       and w.turn = g.turn
    returning w.id, w.disabled_reason)
    select id, disabled_reason as reason from ended where disabled_reason is not null`,
  )
}

/** Of those that were switched off: what waits is given up, a portion at a time. Gives how many. */
export function giveUpDisabled(db: Db, limit: number) {
  return db.run(sql`
    -- all accounts: the job serves them all
    with picked as (
      select q.webhook_id, q.id
        from webhooks w
       cross join lateral (select webhook_id, id from webhook_queue where webhook_id = w.id limit ${limit}) q
       where w.disabled_at is not null
       limit ${limit}
         -- Not of one that is being switched on again at this moment.
         for share of w skip locked
    ), gone as (
      delete from webhook_queue q
       using picked p
       where q.webhook_id = p.webhook_id and q.id = p.id
      returning q.*)
    insert into webhook_deliveries
      (webhook_id, id, account_id, event, message_id, event_id, email, data, attempts, created_at, attempted_at,
       status_code, answer, error, is_delivered)
    select webhook_id, id, account_id, event, message_id, event_id, email, data, attempts, created_at, attempted_at,
           status_code, answer, coalesce(error, 'The webhook was switched off.'), false
      from gone
    on conflict (webhook_id, id) do nothing`)
}

type Portion = { before: string; limit: number }

/** What was kept long enough, and what belonged to webhooks that were deleted; a portion at a time. Gives how many. */
export function forgetDeliveries(db: Db, { before, limit }: Portion) {
  return db.run(sql`
    -- all accounts: the job serves them all
    with recursive known (webhook_id) as (
      (select webhook_id from webhook_deliveries order by webhook_id limit 1)
      union all
      select (select d.webhook_id
                from webhook_deliveries d
               where d.webhook_id > k.webhook_id
               order by d.webhook_id
               limit 1)
        from known k
       where k.webhook_id is not null
    ), picked as (
      select d.webhook_id, d.id
        from known k
        left join webhooks w on w.id = k.webhook_id
       cross join lateral (select webhook_id, id
                             from webhook_deliveries
                            where webhook_id = k.webhook_id and (w.id is null or id < ${before}::uuid)
                            order by id
                            limit ${limit}) d
       limit ${limit})
    delete from webhook_deliveries d
     using picked p
     where d.webhook_id = p.webhook_id
       and d.id = p.id`)
}

/** What waits for webhooks that were deleted; likewise. */
export function forgetOrphans(db: Db, limit: number) {
  return db.run(sql`
    -- all accounts: the job serves them all
    with recursive ${waitingWebhooks}, picked as (
      select q.webhook_id, q.id
        from waiting k
       cross join lateral (select webhook_id, id from webhook_queue where webhook_id = k.webhook_id limit ${limit}) q
       where not exists (select 1 from webhooks w where w.id = k.webhook_id)
       limit ${limit})
    delete from webhook_queue q
     using picked p
     where q.webhook_id = p.webhook_id
       and q.id = p.id`)
}

export type WebhookBacklog = { depth: number; oldest_s: number; failing: number }

const WebhookBacklogRow = row<WebhookBacklog>({ depth: int, oldest_s: int, failing: int })

const mostCounted = 100_000

/** What is due of all accounts, for whoever runs the service. */
export function readWebhookBacklog(db: Db): Promise<WebhookBacklog> {
  return db.one(
    WebhookBacklogRow,
    sql`
    -- all accounts: a figure of the whole service
    select count(*)::int as depth,
           coalesce(extract(epoch from clock_timestamp() - min(due_at)), 0)::int as oldest_s,
           (select count(*)::int
              from webhooks
             where disabled_at is null and failing_since is not null) as failing
      from (select q.due_at
              from webhook_queue q
              join webhooks w on w.account_id = q.account_id and w.id = q.webhook_id and w.disabled_at is null
             where q.due_at <= clock_timestamp()
             limit ${mostCounted}) due`,
  )
}

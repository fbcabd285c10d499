import type { Db } from '../../kernel/db.ts'
import { json, maybe, row, text, time } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { countedADay } from './bounces/soft-bounce-limit.ts'
import type { Runs } from './delivery-queries.ts'
import type { Status } from './model.ts'

export type NewEvent = {
  id: string
  accountId: string
  messageId: string
  type: string
  at: Date
  data: string
  /** Told only of a message that is in it by now. */
  status?: Status
}

/**
 * Of messages that are still there: one that was erased meanwhile leaves nothing behind. They are locked in the order
 * of their ids, so that two who lock several do not wait for each other. A message counts as sent once, also where
 * a worker handed it over that had long lost it to another, or the upstream told of it before.
 */
export function insertEvents(db: Runs, events: NewEvent[]) {
  const column = <K extends keyof NewEvent>(name: K) => events.map((event) => event[name] ?? null)
  return db.run(sql`
    insert into message_events (id, account_id, message_id, type, at, data, of_campaign)
    select e.id, e.account_id, e.message_id, e.type, e.at, e.data, m.campaign_id is not null
      from unnest(${column('id')}::uuid[], ${column('accountId')}::bigint[], ${column('messageId')}::uuid[],
                  ${column('type')}::text[], ${column('at')}::timestamptz[], ${column('data')}::jsonb[],
                  ${column('status')}::text[])
           as e (id, account_id, message_id, type, at, data, status)
      join messages m on m.id = e.message_id and m.account_id = e.account_id
     where (e.type <> 'sent'
            or m.sent_at is null
            or m.sent_at = e.at
            or not exists (select 1 from message_events p where p.message_id = m.id and p.type = 'sent'))
       and (e.status is null or m.status = e.status)
     order by m.id, e.id
       for key share of m
    on conflict (account_id, id) do nothing`)
}

export type Known = {
  id: string
  account_id: string
  recipient: string
  sent_at: Date | null
  delivered_at: Date | null
}

const Known = row<Known>({
  id: text,
  account_id: text,
  recipient: text,
  sent_at: maybe(time),
  delivered_at: maybe(time),
})

export function findForEvent(db: Db, id: string) {
  return db.maybe(
    Known,
    sql`
    -- all accounts: an upstream or a pixel knows the message, not its account
    select id, account_id, recipient, sent_at, delivered_at from messages where id = ${id}`,
  )
}

/** At rest, although nobody heard of some of its tries, or a restored backup knows of none that came later. */
export const isDoubtful = sql`
  (status in ('failed', 'cancelled', 'suppressed')
   and (unsure_tries > 0 or coalesce(last_error ->> 'code', '') = 'restored'))`

/** One that was given up while nobody knew keeps its status: nothing leaves it. */
export function markDelivered(db: Db, accountId: string, id: string, at: Date) {
  return db.run(sql`
    update messages
       set status = case when status in ('sent', 'queued', 'held') then 'delivered' else status end,
           delivered_at = ${at}, sent_at = coalesce(sent_at, ${at})
     where account_id = ${accountId}
       and id = ${id}
       and (status in ('sent', 'queued', 'held') or ${isDoubtful} and delivered_at is null)`)
}

/** What became of it after all is known better than that nobody knew. */
export function markFailed(db: Db, accountId: string, id: string, error: string) {
  return db.run(sql`
    update messages
       set status = 'failed', last_error = ${error}::jsonb, held_reason = null
     where account_id = ${accountId}
       and id = ${id}
       and (status in ('queued', 'held', 'sent', 'delivered')
            or status = 'failed' and last_error ->> 'code' = 'outcome_unknown')`)
}

const SoftBounces = row<{ bounced_at: Date[] }>({ bounced_at: json() })

const mostKept = 20

/**
 * The latest, this one included, but of each day only as many as the limit looks at: those of one busy day would push
 * out the days before. Nothing for a message that is gone: its person may have been erased meanwhile, and whoever
 * erases waits until this is committed and then finds it.
 */
export function addSoftBounce(
  db: Db,
  { id, accountId, recipient, at }: { id: string; accountId: string; recipient: string; at: Date },
) {
  return db.maybe(
    SoftBounces,
    sql`
    with still as (
      select recipient
        from messages
       where account_id = ${accountId} and id = ${id} and recipient = ${recipient}
         for key share)
    insert into soft_bounces as s (account_id, email, bounced_at)
    select ${accountId}, recipient, array[${at}::timestamptz] from still
    on conflict (account_id, email) do update
       set bounced_at = array(
             select b.at
               from (select each.at,
                            row_number() over (partition by date_trunc('day', each.at, 'UTC') order by each.at desc)
                              as nth
                       from unnest(array_prepend(${at}::timestamptz, s.bounced_at)) as each (at)) b
              where b.nth <= ${countedADay}
              order by b.at desc
              limit ${mostKept})
    returning bounced_at`,
  )
}

export function clearSoftBounces(db: Db, accountId: string, email: string) {
  return db.run(sql`delete from soft_bounces where account_id = ${accountId} and email = ${email}`)
}

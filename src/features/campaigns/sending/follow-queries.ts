// Messages follow their campaign: held when it is interrupted, queued when it goes on, cancelled when it is.
// Called with the campaign's row locked.
import type { Db } from '../../../kernel/db.ts'
import { int, maybe, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { Ref, type SendingRow } from './campaign-queries.ts'

export function listUnfollowed(db: Db) {
  return db.many(
    Ref,
    sql`
    -- all accounts: the job serves them all
    select account_id, id
      from campaigns
     where in_force in ('in_process', 'suspended', 'cancelled')
       and followed is distinct from in_force
       and frozen_at is not null
     order by id`,
  )
}

/** How many were looked at, the last of them, and how many changed. */
export type Followed = { seen: number; last: string | null; changed: number }

const Followed = row<Followed>({ seen: int, last: maybe(text), changed: int })

export type Stopping = { from: string[]; to: string; reason: string | null; limit: number }

const firstOfAll = '00000000-0000-0000-0000-000000000000'

/**
 * Out of the queue and into another state. What a worker has claimed is left to it: the row counts one try more than
 * the message, and its lease runs. Only a holder of the campaign's lock puts rows into the queue, so a message without
 * one is nobody's.
 */
export function stopMessages(db: Db, campaign: SendingRow, { from, to, reason, limit }: Stopping) {
  const { account_id, id, followed_to } = campaign
  return db.one(
    Followed,
    sql`
    with span as materialized (
      select s.id
        from unnest(${from}::text[]) as f (status)
       cross join lateral (select m.id
                             from messages m
                            where m.account_id = ${account_id}
                              and m.campaign_id = ${id}
                              and m.status = f.status
                              and m.id > coalesce(${followed_to}::uuid, ${firstOfAll})
                            order by m.id
                            limit ${limit}) s
       order by s.id
       limit ${limit}),
    locked as materialized (
      select m.id, m.attempts
        from messages m
       where m.id in (select id from span)
         and m.account_id = ${account_id}
         and m.status = any(${from}::text[])
         for update skip locked),
    freed as (
      delete from delivery_queue
       where message_id in (select q.message_id
                              from delivery_queue q
                              join locked l on l.id = q.message_id
                             where q.attempts <= l.attempts or q.due_at <= clock_timestamp()
                               for update of q skip locked)
      returning message_id),
    changed as (
      update messages m
         set status = ${to}, held_reason = ${reason}
        from locked l
       where m.id = l.id
         and m.account_id = ${account_id}
         and m.status = any(${from}::text[])
         and (l.id in (select message_id from freed)
              or not exists (select 1 from delivery_queue q where q.message_id = l.id))
      returning m.id)
    select count(*)::int as seen, (select id from span order by id desc limit 1) as last,
           (select count(*)::int from changed) as changed
      from span`,
  )
}

/**
 * Back into line. One that is held and in the queue waits for the upstream, not for the campaign; the rest of an A/B
 * test waits for its winner, and gets that subject.
 */
export function releaseMessages(db: Db, campaign: SendingRow, limit: number) {
  const { account_id, id, followed_to, winner, ab_test } = campaign
  const subject = winner === 'B' ? ab_test?.subjectB : ab_test?.subjectA
  return db.one(
    Followed,
    sql`
    with span as materialized (
      select m.id
        from messages m
       where m.account_id = ${account_id}
         and m.campaign_id = ${id}
         and m.status = 'held'
         and m.id > coalesce(${followed_to}::uuid, ${firstOfAll})
       order by m.id
       limit ${limit}),
    changed as (
      update messages m
         set status = 'queued',
             held_reason = null,
             subject = case when m.variant = 'R' then coalesce(${subject ?? null}::text, m.subject) else m.subject end
        from span s
       where m.id = s.id
         and m.account_id = ${account_id}
         and m.status = 'held'
         and (m.variant is distinct from 'R' or ${winner}::text is not null)
         and not exists (select 1 from delivery_queue q where q.message_id = m.id)
      returning m.id)
    select count(*)::int as seen, (select id from span order by id desc limit 1) as last,
           (select count(*)::int from changed) as changed
      from span`,
  )
}

/** What was released from here on is still to be fed. */
export function feedAgain(db: Db, { account_id, id, followed_to }: SendingRow) {
  return db.run(sql`
    update campaigns
       set fed_to = case when ${followed_to}::uuid is not null and fed_to is not null
                         then least(fed_to, ${followed_to}::uuid) end
     where account_id = ${account_id}
       and id = ${id}`)
}

export function markFollowed(db: Db, { account_id, id, in_force }: SendingRow) {
  return db.run(sql`
    update campaigns
       set followed = ${in_force}, followed_to = null
     where account_id = ${account_id}
       and id = ${id}`)
}

export function markFollowedTo(db: Db, { account_id, id }: Ref, last: string | null) {
  return db.run(sql`
    update campaigns
       set followed_to = ${last}, followed = null
     where account_id = ${account_id}
       and id = ${id}`)
}

// Messages follow their campaign: held when it is interrupted, queued when it goes on, cancelled when it is.
// Called with the campaign's row locked.
import type { Db } from '../../../kernel/db.ts'
import { int, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { firstOfAll, Ref, type SendingRow } from './campaign-queries.ts'

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

export type SpanRow = { id: string; attempts: number }

const Span = row<SpanRow>({ id: text, attempts: int })

/**
 * The next messages in these states, in order. The statements that follow are given them by name: the planner knows
 * nothing about how many a part of a statement would give.
 */
export function nextSpan(db: Db, campaign: SendingRow, statuses: string[], limit: number) {
  const { account_id, id, followed_to } = campaign
  return db.many(
    Span,
    sql`
    select s.id, s.attempts
      from unnest(${statuses}::text[]) as f (status)
     cross join lateral (select m.id, m.attempts
                           from messages m
                          where m.account_id = ${account_id}
                            and m.campaign_id = ${id}
                            and m.status = f.status
                            and m.id > coalesce(${followed_to}::uuid, ${firstOfAll})
                          order by m.id
                          limit ${limit}
                            for update skip locked) s
     order by s.id
     limit ${limit}`,
  )
}

/** Whether a worker has claimed it: the row counts one try more than the message, and its lease runs. */
export function leaveQueueUnclaimed(db: Db, { account_id }: Ref, span: SpanRow[]) {
  return db.run(sql`
    delete from delivery_queue q
     using unnest(${span.map(({ id }) => id)}::uuid[], ${span.map(({ attempts }) => attempts)}::int[])
           as s (id, attempts)
     where q.message_id = s.id
       and q.account_id = ${account_id}
       and (q.attempts <= s.attempts or q.due_at <= clock_timestamp())`)
}

export type Stopping = { from: string[]; to: string; reason: string | null }

/** Only a holder of the campaign's lock puts rows into the queue, so a message without one is nobody's. */
export function stopMessages(db: Db, { account_id }: Ref, ids: string[], { from, to, reason }: Stopping) {
  return db.run(sql`
    update messages m
       set status = ${to}, held_reason = ${reason}
     where m.account_id = ${account_id}
       and m.id = any(${ids}::uuid[])
       and m.status = any(${from}::text[])
       and not exists (select 1 from delivery_queue q where q.message_id = m.id)`)
}

/**
 * Back into line. One that is held and in the queue waits for the upstream, not for the campaign; the rest of an A/B
 * test waits for its winner, and gets that subject.
 */
export function releaseMessages(db: Db, campaign: SendingRow, ids: string[]) {
  const { account_id, winner, ab_test } = campaign
  const subject = winner === 'B' ? ab_test?.subjectB : ab_test?.subjectA
  return db.run(sql`
    update messages m
       set status = 'queued',
           held_reason = null,
           subject = case when m.variant = 'R' then coalesce(${subject ?? null}::text, m.subject) else m.subject end
     where m.account_id = ${account_id}
       and m.id = any(${ids}::uuid[])
       and m.status = 'held'
       and (m.variant is distinct from 'R' or ${winner}::text is not null)
       and not exists (select 1 from delivery_queue q where q.message_id = m.id)`)
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

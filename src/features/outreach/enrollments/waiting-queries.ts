import type { Db } from '../../../kernel/db.ts'
import { int, maybe, row, text, time } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'

type SequenceRef = { accountId: string; sequenceId: string }

/** Messages that are being handed over end first: their enrolments then wait for the next step. */
export function holdHanding(db: Db, { accountId, sequenceId }: SequenceRef) {
  return db.run(sql`
    select prospect_id from outreach_enrollments
     where account_id = ${accountId} and sequence_id = ${sequenceId} and handing_id is not null
     order by prospect_id
       for update`)
}

export type WaitingFor = { prospect_id: string; next_step: number; left_at: Date; rests_until: Date | null }

const Waiting = row<WaitingFor>({
  prospect_id: text,
  next_step: int,
  left_at: time,
  rests_until: maybe(time),
})

export type Portion = { steps: number[]; after: string; limit: number }

/** Who waits for one of these follow-ups, and when the step before it left. */
export function listWaitingFor(
  db: Db,
  { accountId, sequenceId }: SequenceRef,
  { steps, after, limit }: Portion,
) {
  return db.many(
    Waiting,
    sql`
    select e.prospect_id, e.next_step::int, m.left_at, e.rests_until
      from outreach_enrollments e
     cross join lateral (
           select coalesce(sent_at, created_at) as left_at
             from outreach_messages
            where account_id = e.account_id
              and sequence_id = e.sequence_id
              and prospect_id = e.prospect_id
              and step = e.next_step - 1
            order by id desc
            limit 1) m
     where e.account_id = ${accountId}
       and e.sequence_id = ${sequenceId}
       and e.prospect_id > ${after}
       and e.next_step = any(${steps}::smallint[])
       and e.state = 'active'
       and e.handing_id is null
     order by e.prospect_id
     limit ${limit}`,
  )
}

type Due = { prospectId: string; step: number; dueAt: Date }

export function storeDue(db: Db, { accountId, sequenceId }: SequenceRef, due: Due[]) {
  const each = <T>(of: (one: Due) => T) => due.map(of)
  return db.run(sql`
    update outreach_enrollments e
       set due_at = d.due_at, planned_at = null
      from unnest(${each((one) => one.prospectId)}::bigint[], ${each((one) => one.step)}::smallint[],
                  ${each((one) => one.dueAt)}::timestamptz[])
           as d (prospect_id, step, due_at)
     where e.account_id = ${accountId}
       and e.sequence_id = ${sequenceId}
       and e.prospect_id = d.prospect_id
       and e.next_step = d.step
       and e.state = 'active'
       and e.handing_id is null`)
}

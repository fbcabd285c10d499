import type { Db } from '../../../kernel/db.ts'
import { bool, int, json, maybe, row, text, texts, time } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'
import type { Slice } from '../../../kernel/v3/paging.ts'
import type { Schedule } from '../planning/windows.ts'
import type { SequenceFields, Status, Step } from './sequence.ts'

export type SequenceRow = {
  id: string
  name: string
  mailbox_ids: string[]
  steps: Step[]
  schedule: Schedule
  daily_limit: number | null
  stop_on_reply: boolean
  status: Status
  paused_reason: string | null
  mode: 'live' | 'test'
  created_at: Date
  modified_at: Date
}

const Sequence = row<SequenceRow>({
  id: text,
  name: text,
  mailbox_ids: texts,
  steps: json(),
  schedule: json(),
  daily_limit: maybe(int),
  stop_on_reply: bool,
  status: text as never,
  paused_reason: maybe(text),
  mode: text as never,
  created_at: time,
  modified_at: time,
})

const columns = sql`
  id, name, mailbox_ids::text[] as mailbox_ids, steps, schedule, daily_limit, stop_on_reply, status, paused_reason,
  mode, created_at, modified_at`

export type SequenceRef = { accountId: string; id: string | number }

export function findSequence(db: Db, { accountId, id }: SequenceRef) {
  return db.maybe(
    Sequence,
    sql`select ${columns} from outreach_sequences where account_id = ${accountId} and id = ${id}`,
  )
}

/** Nobody else changes it until the transaction ends. */
export function lockSequence(db: Db, { accountId, id }: SequenceRef) {
  return db.maybe(
    Sequence,
    sql`select ${columns} from outreach_sequences where account_id = ${accountId} and id = ${id} for update`,
  )
}

type Filter = { status?: Status }

export function listSequences(db: Db, accountId: string, { status }: Filter, slice: Slice) {
  const beyond = (after: string) => (slice.ascending ? sql`and id > ${after}` : sql`and id < ${after}`)
  return db.many(
    Sequence,
    sql`
    select ${columns}
      from outreach_sequences
     where account_id = ${accountId}
       ${when(status, (one) => sql`and status = ${one}`)}
       ${when(slice.after, beyond)}
     order by ${slice.ascending ? sql`id` : sql`id desc`}
     limit ${slice.limit}
    offset ${slice.offset}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countSequences(db: Db, accountId: string, { status }: Filter) {
  return db.one(
    Count,
    sql`
    select count(*)::int as count
      from outreach_sequences
     where account_id = ${accountId}
       ${when(status, (one) => sql`and status = ${one}`)}`,
  )
}

const Id = row<{ id: string }>({ id: text })

export function insertSequence(db: Db, accountId: string, one: SequenceFields, at: Date) {
  return db.one(
    Id,
    sql`
    insert into outreach_sequences
      (account_id, name, mailbox_ids, steps, schedule, daily_limit, stop_on_reply, created_at, modified_at)
    values (${accountId}, ${one.name}, ${one.mailboxIds}::bigint[], ${JSON.stringify(one.steps)},
            ${JSON.stringify(one.schedule)}, ${one.dailyLimit}, ${one.stopOnReply}, ${at}, ${at})
    returning id`,
  )
}

export function updateSequence(db: Db, { accountId, id }: SequenceRef, one: SequenceFields, at: Date) {
  return db.run(sql`
    update outreach_sequences
       set name = ${one.name}, mailbox_ids = ${one.mailboxIds}::bigint[], steps = ${JSON.stringify(one.steps)},
           schedule = ${JSON.stringify(one.schedule)}, daily_limit = ${one.dailyLimit},
           stop_on_reply = ${one.stopOnReply}, modified_at = ${at}
     where account_id = ${accountId} and id = ${id}`)
}

export function deleteSequence(db: Db, { accountId, id }: SequenceRef) {
  return db.run(sql`delete from outreach_sequences where account_id = ${accountId} and id = ${id}`)
}

export type Move = { status: Status; mode?: 'live' | 'test'; at: Date }

export function setStatus(db: Db, { accountId, id }: SequenceRef, { status, mode, at }: Move) {
  return db.run(sql`
    update outreach_sequences
       set status = ${status}, mode = coalesce(${mode ?? null}, mode), modified_at = ${at},
           paused_reason = case when ${status} = 'paused' then coalesce(paused_reason, 'manual') end
     where account_id = ${accountId} and id = ${id}`)
}

const Stranded = row<{ id: string; name: string }>({ id: text, name: text })

/** Those that run and have no mailbox rest from now on. */
export function markStranded(db: Db, accountId: string, at: Date) {
  return db.many(
    Stranded,
    sql`
    update outreach_sequences
       set status = 'paused', paused_reason = 'mailbox_deleted', modified_at = ${at}
     where account_id = ${accountId} and status = 'running' and mailbox_ids = '{}'
    returning id, name`,
  )
}

/** What had its moment is planned anew when it runs again. */
export function unplanSequence(db: Db, { accountId, id }: SequenceRef) {
  return db.run(sql`
    update outreach_enrollments
       set planned_at = null, mailbox_id = case when next_step = 0 then null else mailbox_id end
     where account_id = ${accountId} and sequence_id = ${id} and planned_at is not null`)
}

const Stops = row<{ stop_on_reply: boolean }>({ stop_on_reply: bool })

/** A sequence that is gone stops nothing; its enrolments are gone as well. */
export async function stopsOnReply(db: Db, accountId: string, sequenceId: string | null): Promise<boolean> {
  if (sequenceId === null) return true
  const found = await db.maybe(
    Stops,
    sql`select stop_on_reply from outreach_sequences where account_id = ${accountId} and id = ${sequenceId}`,
  )
  return found?.stop_on_reply ?? true
}

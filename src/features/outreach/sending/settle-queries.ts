import type { Db } from '../../../kernel/db.ts'
import { int, json, maybe, row, text, time } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { OutreachEvent } from '../messages/events.ts'
import type { Schedule } from '../planning/windows.ts'
import type { Step } from '../sequences/sequence.ts'

export type OpenMessage = {
  account_id: string
  id: string
  sequence_id: string | null
  prospect_id: string | null
  mailbox_id: string
  step: number | null
  recipient: string
  created_at: Date
}

const Open = row<OpenMessage>({
  account_id: text,
  id: text,
  sequence_id: maybe(text),
  prospect_id: maybe(text),
  mailbox_id: text,
  step: maybe(int),
  recipient: text,
  created_at: time,
})

/** Whoever handed these over did not come back in time. */
export function claimAbandoned(db: Db, now: Date, limit: number) {
  return db.many(
    Open,
    sql`
    -- all accounts: one engine serves them all
    select account_id, id, sequence_id, prospect_id, mailbox_id, step::int, recipient, created_at
      from outreach_messages
     where state = 'handing' and leased_until < ${now}
     order by leased_until
     limit ${limit}
       for update skip locked`,
  )
}

export type MessageEnd = {
  state: 'sent' | 'unconfirmed' | 'failed'
  at: Date
  error: string | null
  event?: OutreachEvent
}
export type MessageRef = { accountId: string; id: string }

/** Also of one that was given up meanwhile: what the server said counts more than silence. */
export function endMessage(db: Db, { accountId, id }: MessageRef, { state, at, error, event }: MessageEnd) {
  return db.run(sql`
    update outreach_messages
       set state = ${state}, leased_until = null, error = ${error},
           events = events || ${JSON.stringify(event ? [event] : [])}::jsonb,
           sent_at = case when ${state} = 'failed' then null else ${at}::timestamptz end
     where account_id = ${accountId} and id = ${id} and state in ('handing', 'unconfirmed')`)
}

/** One that never left is none. */
export function dropMessage(db: Db, { accountId, id }: MessageRef) {
  return db.run(sql`
    delete from outreach_messages where account_id = ${accountId} and id = ${id} and state = 'handing'`)
}

const Enrolled = row<{ next_step: number; state: string }>({ next_step: int, state: text })
const Followed = row<{ steps: Step[]; schedule: Schedule }>({ steps: json(), schedule: json() })

/** The enrolment that a message was handed over for, as long as it waits for it, and its sequence. */
export async function lockHanding(
  db: Db,
  { accountId, id }: MessageRef,
  sequenceId: string,
  prospectId: string,
) {
  const enrolled = await db.maybe(
    Enrolled,
    sql`
    select next_step::int, state
      from outreach_enrollments
     where account_id = ${accountId}
       and sequence_id = ${sequenceId}
       and prospect_id = ${prospectId}
       and handing_id = ${id}
       for update`,
  )
  if (!enrolled) return undefined
  // A statement of its own: what the sequence has become while the enrolment was held by whoever changed it.
  const followed = await db.one(
    Followed,
    sql`select steps, schedule from outreach_sequences where account_id = ${accountId} and id = ${sequenceId}`,
  )
  return { ...enrolled, ...followed }
}

export type Onward = {
  accountId: string
  sequenceId: string
  prospectId: string
  nextStep: number
  /** null: there is no next one. */
  dueAt: Date | null
  at: Date
}

/** One that was stopped while its message left stays stopped, and one that was put off then rests as long. */
export function moveOnward(db: Db, one: Onward) {
  return db.run(sql`
    update outreach_enrollments
       set handing_id = null, planned_at = null, tries = 0, next_step = ${one.nextStep},
           due_at = greatest(${one.dueAt}::timestamptz, due_at),
           state = case when state = 'active' and ${one.dueAt}::timestamptz is null then 'finished' else state end,
           ended_at = case when state = 'active' and ${one.dueAt}::timestamptz is null
                           then ${one.at}::timestamptz else ended_at end
     where account_id = ${one.accountId} and sequence_id = ${one.sequenceId} and prospect_id = ${one.prospectId}`)
}

export type Later = Omit<Onward, 'nextStep' | 'dueAt' | 'at'> & { dueAt: Date; countsTry: boolean }

const Tries = row<{ tries: number }>({ tries: int })

/** The same step again, later. */
export function tryLater(db: Db, one: Later) {
  return db.maybe(
    Tries,
    sql`
    update outreach_enrollments
       set handing_id = null, planned_at = null, due_at = greatest(${one.dueAt}::timestamptz, due_at),
           tries = tries + case when ${one.countsTry} then 1 else 0 end,
           mailbox_id = case when next_step = 0 then null else mailbox_id end
     where account_id = ${one.accountId} and sequence_id = ${one.sequenceId} and prospect_id = ${one.prospectId}
    returning tries::int`,
  )
}

export type Capture = MessageRef & { captureId: string; recipient: string; raw: Buffer; at: Date }

/** Of a message that is still there, as in the sandbox of every other one. */
export function captureMessage(db: Db, one: Capture) {
  return db.run(sql`
    insert into captured_messages (id, account_id, message_id, recipient, raw, received_at)
    select ${one.captureId}::uuid, m.account_id, m.id, ${one.recipient}, ${one.raw}::bytea, ${one.at}::timestamptz
      from outreach_messages m
     where m.account_id = ${one.accountId} and m.id = ${one.id}
    on conflict (account_id, message_id) do nothing`)
}

/** Sequences that run and have nobody left to write to. */
export function finishSequences(db: Db, at: Date) {
  return db.run(sql`
    -- all accounts: housekeeping
    update outreach_sequences s
       set status = 'finished', modified_at = ${at}
     where s.status = 'running'
       and exists (select 1 from outreach_enrollments e
                    where e.account_id = s.account_id and e.sequence_id = s.id)
       and not exists (select 1 from outreach_enrollments e
                        where e.account_id = s.account_id and e.sequence_id = s.id and e.state = 'active')`)
}

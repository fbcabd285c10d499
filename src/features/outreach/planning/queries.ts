import type { Db } from '../../../kernel/db.ts'
import { bool, int, json, maybe, row, text, texts, time } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'
import { firstDay } from '../mailboxes/ramp-queries.ts'
import { isRead } from '../watching/read-queries.ts'
import type { Schedule } from './windows.ts'

const Account = row<{ account_id: string }>({ account_id: text })

/** Those that have something to plan: the module, an identity and a sequence that runs. */
export function accountsToPlan(db: Db) {
  return db.many(
    Account,
    sql`
    -- all accounts: the planner serves each in its turn
    select distinct s.account_id
      from outreach_sequences s
      join accounts a on a.id = s.account_id and a.outreach_enabled
      join outreach_identities i on i.account_id = s.account_id
     where s.status = 'running' and i.company_name <> '' and i.postal_address <> ''`,
  )
}

/** Nobody else plans for the account until the transaction ends. */
export function lockPlanning(db: Db, accountId: string) {
  return db.run(sql`select pg_advisory_xact_lock(hashtextextended(${`outreach plan ${accountId}`}, 0))`)
}

export type SequenceToPlan = {
  id: string
  mailbox_ids: string[]
  schedule: Schedule
  daily_limit: number | null
}

const Sequence = row<SequenceToPlan>({
  id: text,
  mailbox_ids: texts,
  schedule: json(),
  daily_limit: maybe(int),
})

/** Those that run, and one that is looked at as if it did. */
export function sequencesToPlan(db: Db, accountId: string, asIfRunning?: string) {
  return db.many(
    Sequence,
    sql`
    select id, mailbox_ids::text[] as mailbox_ids, schedule, daily_limit
      from outreach_sequences
     where account_id = ${accountId}
       and (status = 'running' ${when(asIfRunning, (id) => sql`or id = ${id}`)})
     order by id`,
  )
}

export type MailboxToPlan = {
  id: string
  email: string
  daily_limit: number
  ramp_from: Date | null
  first_day: string | null
  imap_failures: number
  is_read: boolean
  last_at: Date | null
}

const Mailbox = row<MailboxToPlan>({
  id: text,
  email: text,
  daily_limit: int,
  ramp_from: maybe(time),
  first_day: maybe(text),
  imap_failures: int,
  is_read: bool,
  last_at: maybe(time),
})

export function mailboxesToPlan(db: Db, accountId: string, now: Date) {
  return db.many(
    Mailbox,
    sql`
    select m.id, m.email, m.daily_limit, m.ramp_from, ${firstDay} as first_day, m.imap_failures,
           ${isRead(now)} as is_read, l.created_at as last_at
      from outreach_mailboxes m
      left join lateral (select created_at
                           from outreach_messages
                          where account_id = m.account_id and mailbox_id = m.id
                          order by id desc
                          limit 1) l on true
     where m.account_id = ${accountId} and m.state = 'active'
     order by m.id`,
  )
}

const Used = row<{ id: string; day: string; sent: number }>({ id: text, day: text, sent: int })

export function mailboxDays(db: Db, accountId: string, since: string) {
  return db.many(
    Used,
    sql`
    select mailbox_id as id, day::text, sent + answered + captured as sent
      from outreach_mailbox_days
     where account_id = ${accountId} and day >= ${since}::date`,
  )
}

export function sequenceDays(db: Db, accountId: string, since: string) {
  return db.many(
    Used,
    sql`
    select sequence_id as id, day::text, sent
      from outreach_sequence_days
     where account_id = ${accountId} and day >= ${since}::date`,
  )
}

export type PlannedRow = {
  sequence_id: string
  prospect_id: string
  mailbox_id: string
  next_step: number
  planned_at: Date
}

const PlannedShape = row<PlannedRow>({
  sequence_id: text,
  prospect_id: text,
  mailbox_id: text,
  next_step: int,
  planned_at: time,
})

/** What has its moment already: never much, since only the next minutes are planned. */
export function plannedRows(db: Db, accountId: string) {
  return db.many(
    PlannedShape,
    sql`
    select sequence_id, prospect_id, mailbox_id, next_step::int, planned_at
      from outreach_enrollments
     where account_id = ${accountId} and planned_at is not null and mailbox_id is not null
     order by planned_at`,
  )
}

export type WaitingRow = {
  sequence_id: string
  prospect_id: string
  mailbox_id: string | null
  next_step: number
  due_at: Date
}

const WaitingShape = row<WaitingRow>({
  sequence_id: text,
  prospect_id: text,
  mailbox_id: maybe(text),
  next_step: int,
  due_at: time,
})

export type Most = { id: string; most: number }

/** Of each sequence as many first steps as there can be room for. */
export function firstSteps(db: Db, accountId: string, sequences: Most[], until: Date) {
  return db.many(
    WaitingShape,
    sql`
    select e.sequence_id, e.prospect_id, null::text as mailbox_id, 0 as next_step, e.due_at
      from unnest(${sequences.map(({ id }) => id)}::bigint[], ${sequences.map(({ most }) => most)}::int[])
           as s (id, most)
     cross join lateral (
           select sequence_id, prospect_id, due_at
             from outreach_enrollments
            where account_id = ${accountId}
              and sequence_id = s.id
              and due_at < ${until}
              and state = 'active' and next_step = 0 and planned_at is null and handing_id is null
            order by due_at, prospect_id
            limit s.most) e
     order by e.due_at, e.sequence_id, e.prospect_id`,
  )
}

/** Of each pair of mailbox and sequence as many follow-ups as the mailbox has room for, of steps that there are. */
export function followUpSteps(
  db: Db,
  accountId: string,
  { mailboxes, sequenceIds }: { mailboxes: Most[]; sequenceIds: string[] },
  until: Date,
) {
  return db.many(
    WaitingShape,
    sql`
    select e.sequence_id, e.prospect_id, e.mailbox_id, e.next_step::int, e.due_at
      from unnest(${mailboxes.map(({ id }) => id)}::bigint[], ${mailboxes.map(({ most }) => most)}::int[])
           as m (id, most)
     cross join (select id, jsonb_array_length(steps) as steps
                   from outreach_sequences
                  where account_id = ${accountId} and id = any(${sequenceIds}::bigint[])) s
     cross join lateral (
           select sequence_id, prospect_id, mailbox_id, next_step, due_at
             from outreach_enrollments
            where account_id = ${accountId}
              and mailbox_id = m.id
              and sequence_id = s.id
              and due_at < ${until}
              and state = 'active' and next_step > 0 and planned_at is null and handing_id is null
              and next_step < s.steps
            order by due_at, prospect_id
            limit m.most) e
     order by e.due_at, e.sequence_id, e.prospect_id`,
  )
}

export type Moment = { sequenceId: string; prospectId: string; mailboxId: string; step: number; at: number }

/** Of those for whom it still holds: who was put off while the plan was made waits. */
export function storeMoments(db: Db, accountId: string, moments: Moment[]) {
  const each = <T>(of: (one: Moment) => T) => moments.map(of)
  return db.run(sql`
    update outreach_enrollments e
       set planned_at = p.at, mailbox_id = p.mailbox_id
      from unnest(${each((one) => one.sequenceId)}::bigint[], ${each((one) => one.prospectId)}::bigint[],
                  ${each((one) => one.mailboxId)}::bigint[], ${each((one) => one.step)}::smallint[],
                  ${each((one) => new Date(one.at))}::timestamptz[])
           as p (sequence_id, prospect_id, mailbox_id, step, at)
     where e.account_id = ${accountId}
       and e.sequence_id = p.sequence_id
       and e.prospect_id = p.prospect_id
       and e.next_step = p.step
       and e.due_at <= p.at
       and e.state = 'active' and e.planned_at is null and e.handing_id is null`)
}

const Email = row<{ id: string; email: string }>({ id: text, email: text })

export function emailsOf(db: Db, accountId: string, prospectIds: string[]) {
  return db.many(
    Email,
    sql`
    select id, email from outreach_prospects
     where account_id = ${accountId} and id = any(${prospectIds}::bigint[])`,
  )
}

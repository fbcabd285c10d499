import type { Db } from '../../../kernel/db.ts'
import { bool, bytes, int, json, maybe, row, text, time } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { ServerSettings } from '../mailboxes/credentials.ts'
import { firstDay } from '../mailboxes/ramp-queries.ts'
import type { Schedule } from '../planning/windows.ts'
import type { Step } from '../sequences/sequence.ts'
import { isRead } from '../watching/read-queries.ts'

export type DueRef = { account_id: string; sequence_id: string; prospect_id: string; email: string }

const Due = row<DueRef>({ account_id: text, sequence_id: text, prospect_id: text, email: text })

/** Whose moment has come; the longest waiting first, of each account so many. */
export function findDue(db: Db, now: Date, { each, all }: { each: number; all: number }) {
  return db.many(
    Due,
    sql`
    -- all accounts: one engine serves them all
    select e.account_id, e.sequence_id, e.prospect_id, p.email
      from (select account_id, sequence_id, prospect_id, planned_at,
                   row_number() over (partition by account_id order by planned_at) as place
              from outreach_enrollments
             where planned_at <= ${now}) e
      join outreach_prospects p on p.account_id = e.account_id and p.id = e.prospect_id
     where e.place <= ${each}
     order by e.place, e.planned_at
     limit ${all}`,
  )
}

export type Claimed = { next_step: number; mailbox_id: string }

const ClaimedShape = row<Claimed>({ next_step: int, mailbox_id: text })

/** Nothing when another process has it, or it is not due any more. */
export function claimEnrollment(db: Db, { account_id, sequence_id, prospect_id }: DueRef, now: Date) {
  return db.maybe(
    ClaimedShape,
    sql`
    select next_step::int, mailbox_id
      from outreach_enrollments
     where account_id = ${account_id}
       and sequence_id = ${sequence_id}
       and prospect_id = ${prospect_id}
       and planned_at <= ${now}
       and state = 'active'
       and handing_id is null
       and mailbox_id is not null
       for update skip locked`,
  )
}

export type Facts = {
  status: string
  mode: Mode
  steps: Step[]
  schedule: Schedule
  sequence_limit: number | null
  has_module: boolean
  company_name: string | null
  postal_address: string | null
  mailbox_email: string
  mailbox_name: string
  mailbox_state: string
  is_read: boolean
  daily_limit: number
  ramp_from: Date | null
  first_day: string | null
  smtp: ServerSettings
  sealed: Buffer
  first_name: string
  last_name: string
  company: string
  attributes: Record<string, unknown>
  source: string
  suppression: string | null
  contact_status: string | null
}

const FactsShape = row<Facts>({
  status: text,
  mode: text as never,
  steps: json(),
  schedule: json(),
  sequence_limit: maybe(int),
  has_module: bool,
  company_name: maybe(text),
  postal_address: maybe(text),
  mailbox_email: text,
  mailbox_name: text,
  mailbox_state: text,
  is_read: bool,
  daily_limit: int,
  ramp_from: maybe(time),
  first_day: maybe(text),
  smtp: json(),
  sealed: bytes,
  first_name: text,
  last_name: text,
  company: text,
  attributes: json(),
  source: text,
  suppression: maybe(text),
  contact_status: maybe(text),
})

/** All that decides whether a step may go. What it says of sequence and mailbox holds until the transaction ends. */
export function findFacts(db: Db, due: DueRef, mailboxId: string, now: Date) {
  return db.maybe(
    FactsShape,
    sql`
    select s.status, s.mode, s.steps, s.schedule, s.daily_limit as sequence_limit, a.outreach_enabled as has_module,
           i.company_name, i.postal_address, m.email as mailbox_email, m.name as mailbox_name,
           m.state as mailbox_state, ${isRead(now)} as is_read, m.daily_limit, m.ramp_from,
           ${firstDay} as first_day, m.smtp, m.sealed,
           p.first_name, p.last_name, p.company, p.attributes, p.source,
           (select min(x.reason) from suppressions x
             where x.account_id = s.account_id and x.email in (p.email, erased_name(p.email))) as suppression,
           (select c.status from contacts c where c.account_id = s.account_id and c.email = p.email) as contact_status
      from outreach_sequences s
      join accounts a on a.id = s.account_id
      join outreach_mailboxes m on m.account_id = s.account_id and m.id = ${mailboxId}
      join outreach_prospects p on p.account_id = s.account_id and p.id = ${due.prospect_id}
      left join outreach_identities i on i.account_id = s.account_id
     where s.account_id = ${due.account_id}
       and s.id = ${due.sequence_id}
       for share of s, m, a`,
  )
}

export type Mode = 'live' | 'test'

// A step in the sandbox takes a place of the day, but is nothing that the mailbox has sent.
const columnOf = (mode: Mode) => (mode === 'live' ? sql`sent` : sql`captured`)

type Counted = { accountId: string; id: string; day: string; most: number }

/** False when the day has had as many as it may: all processes count in the same row. */
export async function countMailboxSend(db: Db, counted: Counted & { mode: Mode }): Promise<boolean> {
  const { accountId, id, day, most, mode } = counted
  if (most <= 0) return false
  const column = columnOf(mode)
  const count = await db.run(sql`
    insert into outreach_mailbox_days as d (account_id, mailbox_id, day, ${column})
    values (${accountId}, ${id}, ${day}, 1)
    on conflict (account_id, mailbox_id, day)
    do update set ${column} = d.${column} + 1 where d.sent + d.answered + d.captured < ${most}`)
  return count > 0
}

export async function countSequenceSend(db: Db, { accountId, id, day, most }: Counted): Promise<boolean> {
  if (most <= 0) return false
  const counted = await db.run(sql`
    insert into outreach_sequence_days as d (account_id, sequence_id, day, sent)
    values (${accountId}, ${id}, ${day}, 1)
    on conflict (account_id, sequence_id, day) do update set sent = d.sent + 1 where d.sent < ${most}`)
  return counted > 0
}

export type Spent = {
  accountId: string
  mailboxId: string
  sequenceId: string
  utcDay: string
  localDay: string
  mode: Mode
}

/** It did not leave after all. */
export async function giveBack(db: Db, spent: Spent): Promise<void> {
  const { accountId, mailboxId, utcDay } = spent
  const column = columnOf(spent.mode)
  await giveBackToSequence(db, spent)
  await db.run(sql`
    update outreach_mailbox_days set ${column} = ${column} - 1
     where account_id = ${accountId} and mailbox_id = ${mailboxId} and day = ${utcDay} and ${column} > 0`)
}

/** The server refused it: it did not leave either, but was tried. */
export async function giveBackRefused(db: Db, spent: Spent): Promise<void> {
  const { accountId, mailboxId, utcDay } = spent
  await giveBackToSequence(db, spent)
  await db.run(sql`
    update outreach_mailbox_days set sent = sent - 1, refused = refused + 1
     where account_id = ${accountId} and mailbox_id = ${mailboxId} and day = ${utcDay} and sent > 0`)
}

export function giveBackToSequence(db: Db, { accountId, sequenceId, localDay }: Spent) {
  return db.run(sql`
    update outreach_sequence_days set sent = sent - 1
     where account_id = ${accountId} and sequence_id = ${sequenceId} and day = ${localDay} and sent > 0`)
}

export function markHanding(db: Db, { account_id, sequence_id, prospect_id }: DueRef, messageId: string) {
  return db.run(sql`
    update outreach_enrollments
       set handing_id = ${messageId}, planned_at = null
     where account_id = ${account_id} and sequence_id = ${sequence_id} and prospect_id = ${prospect_id}`)
}

/** To be planned anew; a first step is then anybody's. */
export function unplan(db: Db, { account_id, sequence_id, prospect_id }: DueRef) {
  return db.run(sql`
    update outreach_enrollments
       set planned_at = null, mailbox_id = case when next_step = 0 then null else mailbox_id end
     where account_id = ${account_id} and sequence_id = ${sequence_id} and prospect_id = ${prospect_id}
       and handing_id is null`)
}

export function finish(db: Db, { account_id, sequence_id, prospect_id }: DueRef, at: Date) {
  return db.run(sql`
    update outreach_enrollments
       set state = 'finished', ended_at = ${at}, planned_at = null
     where account_id = ${account_id} and sequence_id = ${sequence_id} and prospect_id = ${prospect_id}
       and state = 'active'`)
}

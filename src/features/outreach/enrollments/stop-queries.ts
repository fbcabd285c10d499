import type { Db } from '../../../kernel/db.ts'
import { sql } from '../../../kernel/sql.ts'

export type EnrollmentRef = { accountId: string; sequenceId: string; prospectId: string }
export type ProspectRef = { accountId: string; prospectId: string }

export function stopOfProspects(
  db: Db,
  accountId: string,
  prospectIds: string[],
  { reason, at }: { reason: string; at: Date },
) {
  return db.run(sql`
    update outreach_enrollments
       set state = 'stopped', reason = ${reason}, ended_at = ${at}, planned_at = null
     where account_id = ${accountId}
       and prospect_id = any(${prospectIds}::bigint[])
       and (state = 'active'
            -- Who says no after the end has said no: they do not come back, whatever had ended it.
            or (${reason}::text in ('refused', 'complained') and state = 'stopped' and reason <> 'complained'))`)
}

export function stopOne(db: Db, ref: EnrollmentRef, { reason, at }: { reason: string; at: Date }) {
  return db.run(sql`
    update outreach_enrollments
       set state = 'stopped', reason = ${reason}, ended_at = ${at}, planned_at = null
     where account_id = ${ref.accountId}
       and sequence_id = ${ref.sequenceId}
       and prospect_id = ${ref.prospectId}
       and state = 'active'`)
}

export function stopOfSequence(
  db: Db,
  { accountId, sequenceId }: Omit<EnrollmentRef, 'prospectId'>,
  { reason, at }: { reason: string; at: Date },
) {
  return db.run(sql`
    update outreach_enrollments
       set state = 'stopped', reason = ${reason}, ended_at = ${at}, planned_at = null
     where account_id = ${accountId}
       and sequence_id = ${sequenceId}
       and state = 'active'`)
}

/** Whoever has had as many steps as there are left of it is through. */
export function finishBeyond(
  db: Db,
  { accountId, sequenceId }: Omit<EnrollmentRef, 'prospectId'>,
  { steps, at }: { steps: number; at: Date },
) {
  return db.run(sql`
    update outreach_enrollments
       set state = 'finished', ended_at = ${at}, planned_at = null
     where account_id = ${accountId}
       and sequence_id = ${sequenceId}
       and next_step >= ${steps}
       and state = 'active'
       and handing_id is null`)
}

export function stopOfMailbox(
  db: Db,
  { accountId, mailboxId }: { accountId: string; mailboxId: string },
  { reason, at }: { reason: string; at: Date },
) {
  return db.run(sql`
    update outreach_enrollments
       set state = 'stopped', reason = ${reason}, ended_at = ${at}, planned_at = null
     where account_id = ${accountId}
       and mailbox_id = ${mailboxId}
       and next_step > 0
       and state = 'active'`)
}

// What was planned before is planned anew; a first step is then anybody's.
const postponed = (until: Date) => sql`
  due_at = greatest(due_at, ${until}::timestamptz), rests_until = greatest(rests_until, ${until}::timestamptz),
  planned_at = null, mailbox_id = case when next_step = 0 and handing_id is null then null else mailbox_id end`

export function postponeOfProspect(db: Db, { accountId, prospectId }: ProspectRef, until: Date) {
  return db.run(sql`
    update outreach_enrollments
       set ${postponed(until)}
     where account_id = ${accountId}
       and prospect_id = ${prospectId}`)
}

export function postponeOne(db: Db, ref: EnrollmentRef, until: Date) {
  return db.run(sql`
    update outreach_enrollments
       set ${postponed(until)}
     where account_id = ${ref.accountId}
       and sequence_id = ${ref.sequenceId}
       and prospect_id = ${ref.prospectId}
       and state = 'active'`)
}

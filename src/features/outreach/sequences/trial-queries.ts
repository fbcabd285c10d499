import type { Db } from '../../../kernel/db.ts'
import { sql } from '../../../kernel/sql.ts'
import type { SequenceRef } from './queries.ts'

/** What a test key sent stays, but is of no thread: nobody has seen it. */
export async function detachMessages(db: Db, { accountId, id }: SequenceRef): Promise<void> {
  await db.run(sql`
    update outreach_messages
       set sequence_id = null
     where account_id = ${accountId} and sequence_id = ${id} and step is not null`)
  await db.run(sql`
    delete from outreach_sequence_days where account_id = ${accountId} and sequence_id = ${id}`)
}

/**
 * From the first step for everybody, also for those who may come back to it. Those for whom it was stopped stay so, and
 * those who were through it and said something since. What is being captured at this moment moves nobody on any more.
 */
export async function beginAnew(db: Db, { accountId, id }: SequenceRef, at: Date): Promise<void> {
  await db.run(sql`
    update outreach_enrollments e
       set state = 'active', ended_at = null
     where account_id = ${accountId}
       and sequence_id = ${id}
       and state = 'finished'
       and next_step > 0
       and not exists (select 1
                         from outreach_enrollments o
                        where o.account_id = ${accountId}
                          and o.prospect_id = e.prospect_id
                          and o.state = 'stopped'
                          and o.reason in ('refused', 'complained', 'replied'))`)
  await db.run(sql`
    update outreach_enrollments
       set next_step = 0, mailbox_id = null, planned_at = null, handing_id = null, tries = 0,
           due_at = greatest(${at}::timestamptz, rests_until)
     where account_id = ${accountId}
       and sequence_id = ${id}
       and (next_step > 0 or handing_id is not null)`)
}

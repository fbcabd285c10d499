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

/** All but those for whom it was stopped. What is being captured at this moment moves nobody on any more. */
export function beginAnew(db: Db, { accountId, id }: SequenceRef, at: Date) {
  return db.run(sql`
    update outreach_enrollments
       set state = 'active', ended_at = null, next_step = 0, mailbox_id = null, planned_at = null, handing_id = null,
           tries = 0, due_at = greatest(${at}::timestamptz, rests_until)
     where account_id = ${accountId}
       and sequence_id = ${id}
       and state in ('active', 'finished')
       and (next_step > 0 or handing_id is not null)`)
}

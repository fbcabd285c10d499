// A sequence whose last mailbox is deleted sends nothing any more: it rests, and the account is told.
import type { Db } from '../../../kernel/db.ts'
import { raiseNotice } from '../../accounts/notices/notices.ts'
import { markStranded, unplanSequence } from './queries.ts'

export const stranded = 'sequence_paused'

/** Those that run without a mailbox, now that this one is gone. */
export async function pauseStranded(
  db: Db,
  { accountId, email }: { accountId: string; email: string },
  at: Date,
): Promise<void> {
  for (const { id, name } of await markStranded(db, accountId, at)) {
    await unplanSequence(db, { accountId, id })
    const message =
      `The sequence ${id} (${name}) was paused: its last mailbox, ${email}, was deleted. ` +
      'Give it another one, then set its status to running.'
    const details = { sequence_id: Number(id), reason: 'mailbox_deleted' }
    await raiseNotice(db, { accountId, code: stranded, subject: id, message, details }, at)
  }
}

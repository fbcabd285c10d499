// The senders whose transactional mail a contact does not get.
import type { Db } from '../../../kernel/db.ts'
import { normalEmail } from '../../../kernel/email-address.ts'
import { newUuid } from '../../../kernel/id.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { deleteBlockedSenders, insertBlockedSenders } from '../../suppressions/blocked-sender-queries.ts'

type Blocking = { db: Db; accountId: string; now: Date }

const param = 'smtpBlacklistSender'

/** What is given replaces what there was; an empty list blocks none. */
export async function blockSenders(
  { db, accountId, now }: Blocking,
  email: string | null,
  given: string[],
): Promise<void> {
  if (email === null) throw missingParameter({ message: `${param} needs a contact with an email`, param })
  const senders = [...new Set(given.map(readSender))]
  const ref = { accountId, email }
  await deleteBlockedSenders(db, ref, senders)
  if (senders.length === 0) return
  const blocks = senders.map((sender) => ({ id: newUuid(), sender }))
  await insertBlockedSenders(db, ref, blocks, now)
}

function readSender(given: string): string {
  const sender = normalEmail(given)
  if (sender !== undefined) return sender
  throw invalidParameter({ message: `${param} must be a list of email addresses`, param })
}

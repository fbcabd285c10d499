// A mailbox that cannot be read keeps its follow-ups back, so its account is told once that lasts.
import type { Db } from '../../../kernel/db.ts'
import { raiseNotice, resolveNotice } from '../../accounts/notices/notices.ts'
import { sentenceOf } from './health.ts'

type Unread = { accountId: string; mailboxId: string; email: string }

const code = 'mailbox_unread'

// Each try waits twice as long as the one before: these take about an hour.
const toldAfter = 8

/** So often in a row it could not be read. */
export async function tellUnread(
  db: Db,
  { accountId, mailboxId, email }: Unread,
  { failures, words }: { failures: number; words: string },
  at: Date,
): Promise<void> {
  if (failures < toldAfter) return
  const message =
    `The mailbox ${email} cannot be read: ${sentenceOf(words)} Its follow-ups wait until it is, since whoever they ` +
    `are for may have answered. Mend its imap with PUT /v3/outreach/mailboxes/${mailboxId}, or delete it to end its ` +
    'threads.'
  await raiseNotice(
    db,
    { accountId, code, subject: email, message, details: { mailbox_id: Number(mailboxId) } },
    at,
  )
}

/** It was read again, or is gone. */
export const resolveUnread = (db: Db, { accountId, email }: Omit<Unread, 'mailboxId'>, at: Date) =>
  resolveNotice(db, { accountId, code, subject: email }, at)

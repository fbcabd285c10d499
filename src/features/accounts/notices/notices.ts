// What an account should know without having asked.
import type { Db } from '../../../kernel/db.ts'
import { newUuid } from '../../../kernel/id.ts'
import { closeNotice, insertNotice, insertOrReword, type NoticeRef } from './queries.ts'

export const noticeCodes = [
  'domain_broken',
  'webhook_disabled',
  'cap_near',
  'mailbox_paused',
  'mailbox_unread',
  'campaign_interrupted',
  'sequence_paused',
  'automation_paused',
] as const

export type Noted = NoticeRef & {
  code: (typeof noticeCodes)[number]
  /** What it is about, such as a domain or the number of a webhook: one notice of a code is open for each. */
  subject: string
  /** A sentence for a person, which says what to do. */
  message: string
  details?: Record<string, unknown>
}

/** True when it is new; while one like it is open, nothing is added. */
export async function raiseNotice(db: Db, noted: Noted, at: Date): Promise<boolean> {
  const details = JSON.stringify(noted.details ?? {})
  return (await insertNotice(db, { ...noted, id: newUuid(), details, at })) > 0
}

/** One that is open is brought up to date. */
export async function keepNotice(db: Db, noted: Noted, at: Date): Promise<void> {
  const details = JSON.stringify(noted.details ?? {})
  await insertOrReword(db, { ...noted, id: newUuid(), details, at })
}

/** What it told of is over. */
export async function resolveNotice(
  db: Db,
  about: Pick<Noted, 'accountId' | 'code' | 'subject'>,
  at: Date,
): Promise<void> {
  await closeNotice(db, about, at)
}

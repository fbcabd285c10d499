// How a mailbox is doing, and what has to happen before it does more harm.
import type { Db } from '../../../kernel/db.ts'
import { raiseNotice } from '../../accounts/notices/notices.ts'
import { utcDay } from '../planning/windows.ts'
import { countBounce, countComplaint, type MailboxRef, markPaused, sumDays } from './health-queries.ts'

export type PauseReason = 'manual' | 'login' | 'sender' | 'bounces' | 'complaints'

const dayMs = 86_400_000
const rateDays = 7
const fewest = 20

/** So often in a row, and something is really wrong. */
export const failsAfter = 3

export const rates = { warns: 0.02, pauses: 0.05 }

/** Of how many days bounces are counted: everything after this one. */
export const rateSince = (at: Date) => utcDay(at.getTime() - rateDays * dayMs)

/** Nobody can tell from a few. */
export function bounceRate({ sent, bounced }: { sent: number; bounced: number }): number {
  return sent < fewest ? 0 : bounced / sent
}

/** `sealed`: what it was opened with when it came to that. */
type Why = { reason: PauseReason; error: string; sealed?: Buffer }

const longestWords = 1_000

// Some servers end their words with a full stop, others do not. What they say may be long, and nothing but stops.
export const sentenceOf = (words: string) =>
  words
    .slice(0, longestWords)
    .toWellFormed()
    .replace(/(?<![.\s])[.\s]*$/, '.')

/** Needs somebody to resume it: what is wrong does not mend itself. */
export async function pauseMailbox(
  db: Db,
  ref: MailboxRef,
  { reason, error, sealed }: Why,
  at: Date,
): Promise<void> {
  const why = sentenceOf(error)
  const paused = await markPaused(db, ref, { reason, error: why, at, sealed })
  if (!paused) return
  const message = `The mailbox ${paused.email} was paused: ${why} Mend it, then set its state to active.`
  const details = { mailbox_id: Number(ref.mailboxId), reason }
  await raiseNotice(
    db,
    { accountId: ref.accountId, code: 'mailbox_paused', subject: paused.email, message, details },
    at,
  )
}

/** A message of the mailbox came back, at once or later. */
export async function recordBounce(db: Db, ref: MailboxRef, at: Date): Promise<void> {
  await countBounce(db, ref, utcDay(at.getTime()))
  const rate = bounceRate(await sumDays(db, ref, rateSince(at)))
  if (rate < rates.pauses) return
  const error = `${(rate * 100).toFixed(1)} % of its messages of the last ${rateDays} days bounced.`
  await pauseMailbox(db, ref, { reason: 'bounces', error }, at)
}

// One may be a slip of the finger. Large providers stop taking mail of those who come to 0.3 %.
const fewestComplaints = 2
const pausingComplaints = 0.003

/** Somebody took a message of the mailbox for abuse. */
export async function recordComplaint(db: Db, ref: MailboxRef, at: Date): Promise<void> {
  await countComplaint(db, ref, utcDay(at.getTime()))
  const { sent, complained } = await sumDays(db, ref, rateSince(at))
  if (complained < fewestComplaints || complained < sent * pausingComplaints) return
  const error = `${complained} people of the last ${rateDays} days took its messages for abuse.`
  await pauseMailbox(db, ref, { reason: 'complaints', error }, at)
}

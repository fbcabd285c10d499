// An incoming message and all that follows from it, in the transaction that moves the marker behind it.
import type { Db } from '../../../kernel/db.ts'
import { postponeProspect, stopProspect } from '../enrollments/stop-enrollments.ts'
import { leaveAlone } from '../inbox/effects.ts'
import { insertReply, keepSuppressed } from '../inbox/reply-queries.ts'
import { type Reading, readMessage } from '../reading/read-message.ts'
import { stopsOnReply } from '../sequences/queries.ts'
import { type Incoming, replyOf } from './incoming.ts'
import { findInboxOwners } from './match-queries.ts'
import { type Match, matchThread, says } from './match-thread.ts'
import { takeBounce, takeComplaint } from './take-report.ts'

/** Gives whether it was kept. */
export async function takeMail(db: Db, incoming: Incoming): Promise<boolean> {
  const { mail, receivedAt, mailboxEmail } = incoming
  const reading = readMessage(mail, receivedAt)
  if (reading.kind === 'complaint') return takeComplaint(db, incoming, reading.complaint)
  if (reading.kind === 'bounce') return takeBounce(db, incoming, reading.bounces)
  // A copy of what the owner wrote themselves.
  if (mail.from === mailboxEmail) return false
  const match = await matchThread(db, incoming, mail)
  if (!match) return false
  if (mail.from !== null) return takeAnswer(db, incoming, match, reading)
  if (reading.kind === 'automatic') return false
  // It names our message, so whoever was written to has it: nobody who answered is written to again.
  return takeAnswer(db, { ...incoming, mail: { ...mail, from: match.recipient } }, match, reading)
}

type Answered = Extract<Reading, { kind: 'automatic' | 'reply' }>

async function takeAnswer(db: Db, incoming: Incoming, match: Match, reading: Answered): Promise<boolean> {
  const owners = await findInboxOwners(db, incoming)
  if (owners.some(({ email }) => email === incoming.mail.from)) return false
  // Where addresses share an inbox any of them may read it; it is told to the one that wrote.
  const mailboxId = owners.some(({ id }) => id === match.mailboxId) ? match.mailboxId : incoming.mailboxId
  const reason = `${reading.verdict.reason}; ${says[match.how]}`
  const id = await insertReply(db, {
    ...replyOf({ ...incoming, mailboxId }, match),
    kind: reading.kind,
    ...reading.verdict,
    reason,
  })
  if (id === undefined) return false
  if (reading.kind === 'automatic') await followMachine(db, incoming, match, reading)
  else await followPerson(db, incoming, match, { id, reading })
  return true
}

const dayMs = 24 * 3_600_000
const usualAbsenceDays = 7

type Machine = Extract<Reading, { kind: 'automatic' }>

/** What a machine says is no answer: the sequences rest, or ends where nobody is there any more. */
async function followMachine(db: Db, incoming: Incoming, match: Match, reading: Machine): Promise<void> {
  const { accountId, at, receivedAt } = incoming
  const { prospectId } = match
  if (prospectId === null || match.how === 'domain') return
  if (reading.hasLeft) await stopProspect(db, { accountId, prospectId }, 'undeliverable', at)
  if (reading.verdict.classification !== 'absence') return
  const until = reading.awayUntil
    ? reading.awayUntil.getTime() + dayMs
    : receivedAt.getTime() + usualAbsenceDays * dayMs
  await postponeProspect(db, { accountId, prospectId }, new Date(until))
}

type Person = { id: string; reading: Extract<Reading, { kind: 'reply' }> }

async function followPerson(
  db: Db,
  incoming: Incoming,
  match: Match,
  { id, reading }: Person,
): Promise<void> {
  const { accountId, mail, at } = incoming
  const { classification } = reading.verdict
  const { prospectId } = match
  if (classification === 'unsubscribe') {
    // Where the thread does not prove it, only who wrote is known.
    const emails = match.how === 'domain' ? [mail.from ?? ''] : [match.recipient, mail.from ?? '']
    const suppressed = await leaveAlone(db, { accountId, prospectId, at }, emails)
    await keepSuppressed(db, { accountId, id }, suppressed)
  }
  if (prospectId === null) return
  if (classification === 'refusal') await stopProspect(db, { accountId, prospectId }, 'refused', at)
  // Whoever answers is talking to a person from now on: no sequence goes on beside that.
  else if (await stopsOnReply(db, accountId, match.sequenceId))
    await stopProspect(db, { accountId, prospectId }, 'replied', at)
}

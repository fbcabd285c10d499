// An incoming message and all that follows from it, in the transaction that moves the marker behind it.
import { hash } from 'node:crypto'
import type { Db } from '../../../kernel/db.ts'
import { classifyReply } from '../../messages/bounces/classify-reply.ts'
import { suppress } from '../../suppressions/suppressions.ts'
import { postponeEnrollment, stopEnrollment, stopProspect } from '../enrollments/stop-enrollments.ts'
import { leaveAlone } from '../inbox/effects.ts'
import { insertReply, keepSuppressed, type NewReply } from '../inbox/reply-queries.ts'
import { recordBounce } from '../mailboxes/health.ts'
import { findByMessageIds, markBounced, type OutreachMessageRow } from '../messages/queries.ts'
import type { IncomingMail } from '../reading/parse-mail.ts'
import type { Bounce } from '../reading/read-bounce.ts'
import { type Reading, readMessage } from '../reading/read-message.ts'
import { stopsOnReply } from './match-queries.ts'
import { type Match, matchThread, says } from './match-thread.ts'

export type Incoming = {
  accountId: string
  mailboxId: string
  mailboxEmail: string
  mail: IncomingMail
  receivedAt: Date
  at: Date
}

/** Gives whether it was kept. */
export async function takeMail(db: Db, incoming: Incoming): Promise<boolean> {
  const { mail, receivedAt, mailboxEmail } = incoming
  const reading = readMessage(mail, receivedAt)
  if (reading.kind === 'bounce') return takeBounce(db, incoming, reading.bounce)
  // A copy of what the owner wrote themselves.
  if (mail.from === null || mail.from === mailboxEmail) return false
  const match = await matchThread(db, incoming, mail)
  if (!match) return false
  const reason = `${reading.verdict.reason}; ${says[match.how]}`
  const id = await insertReply(db, {
    ...replyOf(incoming, match),
    kind: reading.kind,
    ...reading.verdict,
    reason,
  })
  if (id === undefined) return false
  if (reading.kind === 'automatic') await followMachine(db, incoming, match, reading)
  else await followPerson(db, incoming, match, { id, reading })
  return true
}

type Empty = 'kind' | 'classification' | 'confidence' | 'reason'

function replyOf(incoming: Incoming, match: Pick<Match, 'sequenceId' | 'prospectId'>): Omit<NewReply, Empty> {
  const { accountId, mailboxId, mail, receivedAt, at } = incoming
  return {
    accountId,
    mailboxId,
    sequenceId: match.sequenceId,
    prospectId: match.prospectId,
    fingerprint: fingerprintOf(mail),
    messageId: mail.messageId,
    refs: [...new Set([...mail.references, ...mail.inReplyTo])],
    sender: mail.from ?? '',
    senderName: mail.fromName,
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    receivedAt,
    at,
  }
}

/** The same in every folder; where there is no identifier, by what it says. */
export function fingerprintOf({ messageId, headers, from, subject, text }: IncomingMail): Buffer {
  const named = messageId ?? JSON.stringify([headers.get('date'), from, subject, text])
  return hash('sha256', named, 'buffer')
}

const dayMs = 24 * 3_600_000
const usualAbsenceDays = 7

type Machine = Extract<Reading, { kind: 'automatic' }>

/** What a machine says is no answer: the sequence rests, or ends where nobody is there any more. */
async function followMachine(db: Db, incoming: Incoming, match: Match, reading: Machine): Promise<void> {
  const { accountId, at, receivedAt } = incoming
  const { prospectId, sequenceId } = match
  if (prospectId === null || match.how === 'domain') return
  if (reading.hasLeft) await stopProspect(db, { accountId, prospectId }, 'undeliverable', at)
  if (reading.verdict.classification !== 'absence' || sequenceId === null) return
  const until = reading.awayUntil
    ? reading.awayUntil.getTime() + dayMs
    : receivedAt.getTime() + usualAbsenceDays * dayMs
  await postponeEnrollment(db, { accountId, sequenceId, prospectId }, new Date(until))
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

async function takeBounce(db: Db, incoming: Incoming, bounce: Bounce): Promise<boolean> {
  const { accountId, at } = incoming
  if (!bounce.isFailed || bounce.originals.length === 0) return false
  const message = (await findByMessageIds(db, accountId, bounce.originals)).at(-1)
  if (!message || (bounce.recipients.length === 0 && !bounce.words.includes(message.recipient))) return false
  const verdict = classifyReply({
    smtpCode: bounce.smtpCode,
    enhancedCode: bounce.status,
    message: bounce.diagnostic,
  })
  const told = { classification: null, confidence: 1, reason: verdict.reason }
  const match = { sequenceId: message.sequence_id, prospectId: message.prospect_id }
  // A report says about a person only what stands in its reason.
  const row = { ...replyOf(incoming, match), text: '', html: null, ...told, kind: 'bounce' as const }
  if ((await insertReply(db, row)) === undefined) return false
  // A forwarded message fails elsewhere: the address that we wrote to is not the dead one.
  const isIt = bounce.recipients.length === 0 || bounce.recipients.includes(message.recipient)
  await followBounce(db, incoming, message, {
    error: bounce.diagnostic || verdict.reason,
    isDead: verdict.suppresses && isIt,
  })
  if (message.state !== 'bounced') await recordBounce(db, { accountId, mailboxId: message.mailbox_id }, at)
  return true
}

type Failed = { error: string; isDead: boolean }

/** A step that did not arrive has no follow-up; only a dead address is not written to again. */
async function followBounce(
  db: Db,
  { accountId, at }: Incoming,
  message: OutreachMessageRow,
  { error, isDead }: Failed,
): Promise<void> {
  const { sequence_id: sequenceId, prospect_id: prospectId } = message
  if (sequenceId !== null && prospectId !== null && message.step !== null) {
    const reason = isDead ? 'bounced' : 'undeliverable'
    await stopEnrollment(db, { accountId, sequenceId, prospectId }, reason, at)
  }
  await markBounced(db, accountId, message.message_id, error)
  if (!isDead) return
  const why = { reason: 'hard_bounce', source: 'outreach', messageId: null, at } as const
  await suppress(db, { accountId, email: message.recipient }, why)
}

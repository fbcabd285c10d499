// What providers report about a message of ours: that it did not arrive, or that somebody takes it for abuse.
import { hash } from 'node:crypto'
import type { Db } from '../../../kernel/db.ts'
import { classifyReply } from '../../messages/bounces/classify-reply.ts'
import { suppress } from '../../suppressions/suppressions.ts'
import { stopEnrollment, stopProspect } from '../enrollments/stop-enrollments.ts'
import { insertReply } from '../inbox/reply-queries.ts'
import { recordBounce, recordComplaint } from '../mailboxes/health.ts'
import { bounceEvent, complaintEvent, type OutreachEvent } from '../messages/events.ts'
import { addEvent, findReported, markBounced, type OutreachMessageRow } from '../messages/queries.ts'
import type { Bounce } from '../reading/read-bounce.ts'
import type { Complaint } from '../reading/read-complaint.ts'
import { type Incoming, replyOf } from './incoming.ts'

// A report says about a person only what stands in its reason.
const unsaid = { text: '', html: null }

export async function takeBounce(db: Db, incoming: Incoming, bounces: Bounce[]): Promise<boolean> {
  const { accountId, at } = incoming
  const failed = bounces.find(({ isFailed }) => isFailed)
  const message = failed && (await findReported(db, accountId, failed))
  const bounce = message && failureOf(bounces, message.recipient)
  if (!message || !bounce) return false
  const said = { smtpCode: bounce.smtpCode, enhancedCode: bounce.status, message: bounce.diagnostic }
  const verdict = classifyReply(said)
  const told = { classification: null, confidence: 1, reason: verdict.reason }
  const match = { sequenceId: message.sequence_id, prospectId: message.prospect_id }
  const row = { ...replyOf(incoming, match), ...unsaid, ...told, kind: 'bounce' as const }
  if ((await insertReply(db, row)) === undefined) return false
  const isDead = verdict.suppresses && isAbout(bounce, message.recipient)
  await followBounce(db, incoming, message, {
    error: bounce.diagnostic || verdict.reason,
    event: bounceEvent(said, { ...verdict, bounceType: isDead ? 'hard' : 'soft' }, at),
    isDead,
  })
  if (message.state !== 'bounced') await recordBounce(db, { accountId, mailboxId: message.mailbox_id }, at)
  return true
}

/** What became of whom we wrote to; where the report names others alone, what became of the first of them. */
function failureOf(bounces: Bounce[], recipient: string): Bounce | undefined {
  const named = bounces.filter(({ recipients, words }) => recipients.length > 0 || words.includes(recipient))
  const ours = named.filter(({ recipients }) => recipients.length === 0 || recipients.includes(recipient))
  const failed = (ours.length > 0 ? ours : named).filter(({ isFailed }) => isFailed)
  return failed.find((one) => isAbout(one, recipient)) ?? failed[0]
}

/** A message that was forwarded, or sent on to several, fails elsewhere: whom we wrote to is not the dead one. */
function isAbout({ recipients, ended }: Bounce, recipient: string): boolean {
  if (recipients.length > 0 && !recipients.includes(recipient)) return false
  // The same name under another domain is how a company calls the same mailbox within.
  return ended === null || nameOf(ended) === nameOf(recipient)
}

const nameOf = (email: string) => email.slice(0, email.lastIndexOf('@'))

type Failed = { error: string; event: OutreachEvent; isDead: boolean }

/** A step that did not arrive has no follow-up; only a dead address is not written to again. */
async function followBounce(
  db: Db,
  { accountId, at }: Incoming,
  message: OutreachMessageRow,
  { error, event, isDead }: Failed,
): Promise<void> {
  const { sequence_id: sequenceId, prospect_id: prospectId } = message
  if (sequenceId !== null && prospectId !== null && message.step !== null) {
    const reason = isDead ? 'bounced' : 'undeliverable'
    await stopEnrollment(db, { accountId, sequenceId, prospectId }, reason, at)
  }
  await markBounced(db, { accountId, id: message.id }, { error, event })
  if (!isDead) return
  const why = { reason: 'hard_bounce', source: 'outreach', messageId: message.id, at } as const
  await suppress(db, { accountId, email: message.recipient }, why)
}

/** Suppresses whom we wrote to, whomever the report names: providers hide it, and reports are easily made up. */
export async function takeComplaint(db: Db, incoming: Incoming, complaint: Complaint): Promise<boolean> {
  const { accountId, at } = incoming
  const message = complaint.isComplaint ? await findReported(db, accountId, complaint) : undefined
  if (!message) return false
  const { sequence_id: sequenceId, prospect_id: prospectId, recipient: email } = message
  const kept = await insertReply(db, {
    ...replyOf(incoming, { sequenceId, prospectId }),
    ...unsaid,
    // One a message, however often it is reported.
    fingerprint: hash('sha256', `complaint ${message.id}`, 'buffer'),
    kind: 'complaint',
    classification: null,
    confidence: 1,
    reason: `taken for ${complaint.type || 'abuse'}`,
  })
  if (kept === undefined) return false
  if (prospectId !== null) await stopProspect(db, { accountId, prospectId }, 'complained', at)
  await addEvent(db, { accountId, id: message.id }, complaintEvent(complaint.type || 'abuse', at))
  const why = { reason: 'complaint', source: 'outreach', messageId: message.id, at } as const
  await suppress(db, { accountId, email }, why)
  await recordComplaint(db, { accountId, mailboxId: message.mailbox_id }, at)
  return true
}

// What an upstream tells about the messages it took, each envelope once.
import type { Db } from '../../kernel/db.ts'
import { domainOf, normalEmail } from '../../kernel/email-address.ts'
import type { Log } from '../../kernel/log.ts'
import type { Said, UpstreamEvent } from '../../kernel/ports.ts'
import { type Reason, suppress } from '../suppressions/suppressions.ts'
import { type BounceVerdict, verdict } from './bounces/classes.ts'
import { classifyUpstreamBounce, type UpstreamVerdict } from './bounces/classify-upstream.ts'
import {
  type FeedbackTarget,
  findByRef,
  findByUpstreamId,
  markSuppressed,
  markTaken,
  markTakenAfterAll,
  rememberFeedback,
} from './feedback-queries.ts'
import {
  bounceData,
  lastErrorOf,
  recordBounce,
  recordComplaint,
  recordDelivery,
  recordEvent,
  type Told,
} from './record-event.ts'

/** One envelope of a provider: its own identifier, which repeats when it is delivered again. */
export type Feedback = { provider: UpstreamEvent['provider']; id: string; events: UpstreamEvent[] }

export type FeedbackNeeds = { db: Db; log: Log; now: () => Date }

export async function recordFeedback(needs: FeedbackNeeds, feedback: Feedback): Promise<void> {
  const { provider, id, events } = feedback
  await needs.db.transaction(async (tx) => {
    if (!(await rememberFeedback(tx, { provider, id, at: needs.now() }))) return
    for (const event of events) {
      const found = await findMessage(tx, event)
      if (found) await recordOne(tx, event, found)
      else needs.log.debug({ provider, id, type: event.type }, 'feedback about a message that is not ours')
    }
  })
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

async function findMessage(tx: Db, event: UpstreamEvent): Promise<FeedbackTarget | undefined> {
  const ref = event.messageRef?.toLowerCase() ?? ''
  const named = uuid.test(ref) ? await findByRef(tx, ref) : undefined
  if (named || event.upstreamId === null) return named
  return findByUpstreamId(tx, event.upstreamId, normalEmail(event.recipient) ?? event.recipient)
}

async function recordOne(tx: Db, event: UpstreamEvent, found: FeedbackTarget): Promise<void> {
  const told = { id: found.id, accountId: found.account_id, recipient: found.recipient, at: event.at }
  if (isOfTaken(event, found)) await recordTaken(tx, event, { told, found })
  switch (event.type) {
    case 'send':
      return
    case 'delivery':
      return recordDelivery(tx, told, saidBy(event).message)
    case 'bounce':
      if (found.delivered_at !== null && isAutomaticAnswer(event)) return
      return recordUpstreamBounce(tx, event, told)
    case 'complaint':
      return recordUpstreamComplaint(tx, event, told)
    case 'deferred':
      return recordEvent(tx, told, 'deferred', bounceData(saidBy(event), verdictOn(event)))
    case 'reject':
      return recordBounce(tx, told, saidBy(event), verdict('content', true))
  }
}

// SES calls the answer of somebody who is away a bounce as well. With no report behind it there is no code in it, and
// what was delivered stays so.
const isAutomaticAnswer = ({ provider, bounce }: UpstreamEvent) =>
  provider === 'ses' &&
  bounce?.bounceType === 'Transient' &&
  bounce.subType === 'General' &&
  bounce.diagnostic === null &&
  bounce.enhancedCode === null

/** Whatever it says, the upstream has it: the hand-over may not have heard so, and would be tried again. */
function isOfTaken({ type, complaint }: UpstreamEvent, { attempts }: FeedbackTarget): boolean {
  if (type === 'send' || type === 'delivery') return true
  // Before the first try is over, the hand-over itself will say so.
  if (type === 'deferred') return attempts > 0
  return type === 'complaint' && complaint?.subType == null
}

type Of = { told: Told; found: FeedbackTarget }

/** The hand-over that hears of it later does not tell it again. */
async function recordTaken(tx: Db, event: UpstreamEvent, { told, found }: Of): Promise<void> {
  const taken = { ...told, upstreamId: event.upstreamId }
  const response = `${names[event.provider]} says: ${event.type}`
  const isLate = found.is_doubtful && (found.sent_at === null || event.type !== 'send')
  if (isLate) await markTakenAfterAll(tx, taken, `It was sent all the same. ${response}`)
  const isNews = found.is_doubtful ? found.sent_at === null : await markTaken(tx, taken)
  if (isNews) await recordEvent(tx, told, 'sent', { response })
}

async function recordUpstreamBounce(tx: Db, event: UpstreamEvent, told: Told): Promise<void> {
  const found = verdictOn(event)
  if (found.status === 'failed') return recordBounce(tx, told, saidBy(event), spared(told, found))
  await recordUpstreamSuppression(tx, event, told)
  // A mailbox that was full is on the upstream's list for a week only.
  if (event.bounce?.bounceType === 'Permanent') await takeOver(tx, told, 'hard_bounce')
}

async function recordUpstreamComplaint(tx: Db, event: UpstreamEvent, told: Told): Promise<void> {
  const { feedbackType, subType } = event.complaint ?? { feedbackType: null, subType: null }
  const kind = feedbackType ?? 'abuse'
  if (isPlayground(told.recipient)) return recordEvent(tx, told, 'complaint', { feedback_type: kind })
  if (subType === null) return recordComplaint(tx, told, kind)
  await recordUpstreamSuppression(tx, event, told)
  await takeOver(tx, told, 'complaint')
}

async function recordUpstreamSuppression(tx: Db, event: UpstreamEvent, told: Told): Promise<void> {
  const error = lastErrorOf('suppressed', { ...saidBy(event), message: verdict('suppressed', true).reason })
  await markSuppressed(tx, told.accountId, told.id, JSON.stringify(error))
  await recordEvent(tx, told, 'blocked', { reason: 'upstream', provider: event.provider })
}

/** The upstream would not send to the address anyway. */
async function takeOver(tx: Db, told: Told, reason: Reason): Promise<void> {
  if (isPlayground(told.recipient)) return
  const ref = { accountId: told.accountId, email: told.recipient }
  await suppress(tx, ref, { reason, source: 'upstream', messageId: told.id, at: told.at })
}

// Both adapters speak of bounces in the words of Amazon SES.
function verdictOn({ bounce }: UpstreamEvent): UpstreamVerdict {
  return classifyUpstreamBounce({
    provider: 'ses',
    bounceType: bounceTypes.find((type) => type === bounce?.bounceType) ?? 'Undetermined',
    bounceSubType: bounce?.subType ?? undefined,
    diagnosticCode: bounce?.diagnostic ?? undefined,
    status: bounce?.enhancedCode ?? undefined,
  })
}

const bounceTypes = ['Permanent', 'Transient', 'Undetermined'] as const

function spared(told: Told, found: BounceVerdict): BounceVerdict {
  return isPlayground(told.recipient) ? { ...found, suppresses: false, countsToLimit: false } : found
}

// Where Amazon lets everyone try out bounces.
const isPlayground = (recipient: string) => domainOf(recipient) === 'simulator.amazonses.com'

const names = { ses: 'Amazon SES', scaleway: 'Scaleway' }

function saidBy({ provider, type, bounce }: UpstreamEvent): Said {
  return {
    smtpCode: bounce?.smtpCode ?? null,
    enhancedCode: bounce?.enhancedCode ?? null,
    // What a receiving server said can be anything, and JSON in the database takes neither NUL nor half a character.
    message: bounce?.diagnostic?.replaceAll('\0', '').toWellFormed() ?? `${names[provider]} says: ${type}`,
  }
}

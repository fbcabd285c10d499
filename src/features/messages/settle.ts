// The result of hand-overs, recorded many at a time in one transaction.
import type { Db } from '../../kernel/db.ts'
import type { Outcome, Said } from '../../kernel/ports.ts'
import { storable } from '../../kernel/v3/lenient.ts'
import type { BounceVerdict } from './bounces/classes.ts'
import { classifyReply } from './bounces/classify-reply.ts'
import type { Claim } from './claim-queries.ts'
import type { FindTracking, Sheets } from './compose-message.ts'
import {
  type AttachmentRow,
  type DueRow,
  dropMessages,
  leaveQueue,
  type Runs,
  requeue,
  type Settled,
  settleMessages,
} from './delivery-queries.ts'
import { clearSoftBounces, insertEvents, type NewEvent } from './event-queries.ts'
import { owed } from './give-back.ts'
import { type NextTry, nextTry } from './model.ts'
import type { Parts } from './queue-messages.ts'
import {
  applyBounce,
  bounceData,
  lastErrorOf,
  recordBounce,
  recordComplaint,
  recordDelivery,
  type Told,
} from './record-event.ts'
import { actOutActivity } from './simulate-activity.ts'
import { type Act, actOf, simulated, simulatedVerdicts } from './simulator.ts'

export type Unready = { kind: 'unready'; retryAfterMs: number } & Said

export type HandedOver = {
  due: DueRow & { attempts: number; renderedSubject?: string }
  outcome:
    | Outcome
    | { kind: 'suppressed'; reason: string }
    | { kind: 'contact gone' | 'gone' | 'interrupted' | 'erased' }
    /** Nothing of the message or the upstream: this installation lacks what it takes to write it. */
    | Unready
  /** Made once: a result that is recorded again, because nobody heard the commit, is one event. */
  eventId: string
}

/** Without bodies where the sheets hold them. */
export type Written = { parts: Parts; subject: string; files?: AttachmentRow[]; sheets?: Sheets }

/** What campaigns add to delivery, which knows nothing of them. */
export type CampaignMail = {
  /** What the recipient gets; nothing when the campaign is not being sent any more. */
  write(due: DueRow): Promise<Written | undefined>
  /** Stops the campaign of one that the upstream does not take. */
  forbid(due: DueRow, why: string): Promise<void>
  /** Takes those out of the queue whose campaign was interrupted, before anything else in the transaction. */
  interrupt(tx: Db, claims: Claim[]): Promise<void>
}

export type SettleNeeds = {
  db: Db
  now: () => Date
  retryFactor: number
  transport: { kind: string }
  /** Where nobody tells of deliveries: that a message is taken starts the count of soft bounces anew. */
  takenIsDelivered?: boolean
  campaigns?: CampaignMail
  /** Says which links the simulator may click. */
  trackingOf?: FindTracking
}

const contactGone = {
  code: 'contact_gone',
  smtp_code: null,
  enhanced_code: null,
  message: 'The address belongs to no contact any more: it was deleted, or has another address by now.',
}

type Result = Settled & { event?: NewEvent; bounce?: ReturnType<typeof classifyReply> }

export async function settle(needs: SettleNeeds, all: HandedOver[]): Promise<undefined[]> {
  const at = needs.now()
  const interrupted = all.flatMap(({ due, outcome }) => (outcome.kind === 'interrupted' ? due : []))
  const erased = all.flatMap(({ due, outcome }) => (outcome.kind === 'erased' ? due.id : []))
  // Whoever locks several messages locks them in the order of their ids.
  const handedOver = all
    .filter(({ outcome }) => outcome.kind !== 'interrupted' && outcome.kind !== 'erased')
    .map((one) => ({ ...one, outcome: written(one.outcome) }))
    .sort((one, other) => (one.due.id < other.due.id ? -1 : 1))
  const results = handedOver.map((one) => resultOf(needs, one, at))
  await needs.db.transaction(async (tx) => {
    if (interrupted.length > 0) await needs.campaigns?.interrupt(tx, interrupted)
    const giveBack = await owed(
      tx,
      [...erased, ...unsent(handedOver)],
      handedOver.map(({ due }) => due.id),
    )
    if (erased.length > 0) await Promise.all([dropMessages(tx, erased), leaveQueue(tx, erased)])
    const following = followUps(needs, handedOver, results)
    // Sent together, carried out one after the other; with the commit where nothing comes after them.
    await Promise.all(recorded(following.length > 0 ? tx : { run: tx.runLast }, handedOver, results))
    for (const follow of following) await follow(tx)
    await giveBack()
  })
  return all.map(() => undefined)
}

const unsent = (handedOver: HandedOver[]) =>
  handedOver.flatMap(({ due, outcome: { kind } }) =>
    kind === 'suppressed' || kind === 'contact gone' ? due.id : [],
  )

function recorded(tx: Runs, handedOver: HandedOver[], results: Result[]): Promise<unknown>[] {
  const changed = results.filter((_, i) => handedOver[i]?.outcome.kind !== 'gone')
  const later = results.filter(({ dueAt }) => dueAt !== null)
  const done = results.flatMap(({ dueAt, id }) => (dueAt === null ? id : []))
  const events = results.flatMap(({ event }) => event ?? [])
  return [
    ...(changed.length > 0 ? [settleMessages(tx, changed)] : []),
    ...(later.length > 0 ? [requeue(tx, later)] : []),
    ...(done.length > 0 ? [leaveQueue(tx, done)] : []),
    ...(events.length > 0 ? [insertEvents(tx, events)] : []),
  ]
}

/** What an upstream says can be anything, and the database takes neither NUL nor half a character. */
function written(outcome: HandedOver['outcome']): HandedOver['outcome'] {
  if (outcome.kind === 'accepted')
    return {
      ...outcome,
      upstreamId: outcome.upstreamId && storable(outcome.upstreamId),
      response: storable(outcome.response),
    }
  return 'message' in outcome ? { ...outcome, message: storable(outcome.message) } : outcome
}

const nothing = {
  error: null,
  upstreamId: null,
  dueAt: null,
  heldReason: null,
  subject: null,
  triedSince: null,
}

function resultOf({ retryFactor }: SettleNeeds, { due, outcome, eventId }: HandedOver, at: Date): Result {
  const { id, attempts, unsure_tries } = due
  const unsureTries = unsure_tries + (outcome.kind === 'uncertain' ? 1 : 0)
  const base = { ...nothing, id, at, attempts, unsureTries, claim: attempts }
  const event = (type: string, data: object): NewEvent => ({
    id: eventId,
    accountId: due.account_id,
    messageId: due.id,
    type,
    at,
    data: JSON.stringify(data),
  })
  switch (outcome.kind) {
    case 'gone':
    case 'interrupted':
    case 'erased':
      return { ...base, status: due.status }
    case 'suppressed':
      return { ...base, status: 'suppressed', event: event('blocked', { reason: outcome.reason }) }
    case 'contact gone':
      return { ...base, status: 'cancelled', error: contactGone }
    case 'accepted':
      return {
        ...base,
        status: 'sent',
        subject: due.renderedSubject ?? null,
        upstreamId: outcome.upstreamId,
        event: event('sent', { response: outcome.response }),
      }
    case 'rejected': {
      const bounce = classifyReply(outcome)
      const error = lastErrorOf(bounce.class, outcome)
      const subject = due.renderedSubject ?? null
      const told = event('bounce', bounceData(outcome, bounce))
      return { ...base, status: 'failed', subject, error, bounce, event: told }
    }
    default:
      return retried(base, { due, outcome, retryFactor }, event)
  }
}

type Base = Omit<Settled, 'status'>
type Retry = {
  due: HandedOver['due']
  outcome: Extract<Outcome, { kind: 'deferred' | 'uncertain' }> | Unready
  retryFactor: number
}

function retried(base: Base, { due, outcome, retryFactor }: Retry, event: Events): Result {
  const verdict = classifyReply(outcome)
  const isTransport =
    outcome.kind === 'unready' || (outcome.kind === 'deferred' && outcome.fault === 'transport')
  const triedSince = due.tried_since ?? base.at
  const isUnheard = outcome.kind === 'uncertain'
  const next = nextTry({
    attempts: due.attempts,
    unsureTries: isUnheard ? base.unsureTries : 0,
    triedSince,
    now: base.at,
    isTransport,
    askedMs: outcome.retryAfterMs ?? 0,
    factor: retryFactor,
  })
  if (!next) {
    const isUnsure = base.unsureTries > 0
    return ended(base, due, {
      code: isUnsure ? 'outcome_unknown' : 'retries_spent',
      said: isUnsure ? unsureOf(base, outcome) : outcome,
      // Neither silence nor a week without the upstream says anything of the recipient.
      verdict: isUnheard || isTransport ? { ...verdict, countsToLimit: false } : verdict,
      event,
    })
  }
  const error = lastErrorOf(verdict.class, outcome)
  const waits = { ...base, error, triedSince, dueAt: next.at, ...heldBy(next, outcome) }
  // The upstream's own trouble is told by the message's last error; an event a message and try would drown the log.
  if (isTransport) return { ...waits, attempts: due.attempts - 1 }
  return { ...waits, event: event('deferred', bounceData(outcome, verdict)) }
}

type Events = (type: string, data: object) => NewEvent
type End = { code: string; said: Said; verdict: BounceVerdict; event: Events }

/** Given up: not by a word of the server, but because it is enough. */
function ended(base: Base, due: HandedOver['due'], { code, said, verdict, event }: End): Result {
  return {
    ...base,
    status: 'failed',
    subject: due.renderedSubject ?? null,
    error: lastErrorOf(code, said),
    bounce: verdict,
    // Not of one that the upstream has told of meanwhile.
    event: { ...event('bounce', bounceData(said, verdict)), status: 'failed' },
  }
}

const unsureOf = ({ unsureTries }: Base, said: Said): Said => ({
  ...said,
  message: `It may have been sent, ${unsureTries} times at most: ${said.message}`,
})

function heldBy(
  { isHeld, at }: NextTry,
  { kind, message }: Retry['outcome'],
): Pick<Result, 'status' | 'heldReason'> {
  if (!isHeld) return { status: 'queued', heldReason: null }
  const who = kind === 'unready' ? 'It cannot leave here' : 'The upstream does not take it'
  const releases = `It leaves by itself when this is repaired; the next try is at ${at.toISOString()}.`
  return {
    status: 'held',
    heldReason: `${who}: ${message.replace(/\.?$/, '.')} ${releases}`,
  }
}

/** In the order of recipients: two who suppress the same ones do not wait for each other. */
function followUps(needs: SettleNeeds, handedOver: HandedOver[], results: Result[]) {
  const named = handedOver.flatMap(({ due }, i) => {
    const follow = followUp(needs, due, results[i])
    return follow ? { name: `${due.account_id} ${due.recipient}`, follow } : []
  })
  return named.sort((one, other) => (one.name < other.name ? -1 : 1)).map(({ follow }) => follow)
}

/** What comes after the hand-over itself: suppressions, and the events of upstreams that are ourselves. */
function followUp(needs: SettleNeeds, due: DueRow, result: Result | undefined) {
  const at = result?.at ?? needs.now()
  const told = { id: due.id, accountId: due.account_id, recipient: due.recipient, at }
  const { bounce } = result ?? {}
  if (bounce) return (tx: Db) => applyBounce(tx, told, bounce)
  if (result?.status !== 'sent') return undefined
  const act = actOf(due.recipient)
  if (act || due.mode === 'test' || needs.transport.kind === 'capture')
    return (tx: Db) => actOut(tx, needs, due, { told, act })
  if (!needs.takenIsDelivered || !due.has_soft_bounces) return undefined
  return (tx: Db) => clearSoftBounces(tx, due.account_id, due.recipient)
}

type Acted = { told: Told; act: Act | undefined }

async function actOut(tx: Db, { trackingOf }: SettleNeeds, due: DueRow, { told, act }: Acted): Promise<void> {
  if (act === 'hard-bounce') return recordBounce(tx, told, simulated.hardBounce, simulatedVerdicts.hard)
  if (act === 'soft-bounce') return recordBounce(tx, told, simulated.softBounce, simulatedVerdicts.soft)
  await recordDelivery(tx, told, '250 2.0.0 captured')
  if (act === 'complaint') await recordComplaint(tx, told, 'abuse')
  if (act) await actOutActivity(tx, due, { act, at: told.at, except: trackingOf?.(due).except })
}

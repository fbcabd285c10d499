// What the server of a mailbox said about a step, brought into the records in one transaction.
import type { Db } from '../../../kernel/db.ts'
import type { MailboxOutcome } from '../../../kernel/mailbox-ports.ts'
import { classifyReply } from '../../messages/bounces/classify-reply.ts'
import { suppress } from '../../suppressions/suppressions.ts'
import { stopEnrollment } from '../enrollments/stop-enrollments.ts'
import { type PauseReason, pauseMailbox, recordBounce } from '../mailboxes/health.ts'
import { noteSmtp } from '../mailboxes/health-queries.ts'
import { holdMailbox } from '../mailboxes/queries.ts'
import { bounceEvent } from '../messages/events.ts'
import { daysLater } from '../planning/windows.ts'
import { refOf, type Taken } from './claim-step.ts'
import { finish, giveBack, giveBackRefused } from './queries.ts'
import {
  dropMessage,
  endMessage,
  lockHanding,
  type MessageEnd,
  moveOnward,
  type OpenMessage,
  tryLater,
} from './settle-queries.ts'
import { faultOfMailbox, told } from './told.ts'

export function settleStep(db: Db, taken: Taken, came: MailboxOutcome, now: Date): Promise<void> {
  const outcome = withoutPerson(came, taken.due.email)
  return db.transaction(async (tx) => {
    const settling = { db: tx, taken, now }
    switch (outcome.kind) {
      case 'accepted':
        return settleLeft(settling, { state: 'sent', at: now, error: null })
      case 'uncertain':
        return settleLeft(settling, { state: 'unconfirmed', at: now, error: outcome.message })
      case 'login_refused':
        return settleOwnFault(settling, 'login', told(outcome))
      case 'deferred':
        return settleDeferred(settling, outcome)
      case 'rejected':
        return settleRejected(settling, outcome)
    }
  })
}

/** What is said of a mailbox is kept when the person is not. */
function withoutPerson(outcome: MailboxOutcome, email: string): MailboxOutcome {
  if (outcome.kind === 'accepted') return outcome
  const literal = email.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  return { ...outcome, message: outcome.message.replaceAll(new RegExp(literal, 'gi'), 'the recipient') }
}

type Settling = { db: Db; taken: Taken; now: Date }
type Of<K> = Extract<MailboxOutcome, { kind: K }>

const messageOf = ({ id, due }: Taken) => ({ accountId: due.account_id, id })
const mailboxOf = ({ spent }: Taken) => ({ accountId: spent.accountId, mailboxId: spent.mailboxId })

async function settleLeft({ db, taken }: Settling, end: MessageEnd): Promise<void> {
  await goOn(db, handedOf(taken), end.at)
  await endMessage(db, messageOf(taken), end)
  // Of the sandbox nothing is learnt about the server.
  if (taken.mode === 'live') await noteSmtp(db, mailboxOf(taken), null)
}

type Handed = Pick<OpenMessage, 'account_id' | 'id' | 'sequence_id' | 'prospect_id' | 'mailbox_id'>

const handedOf = ({ due, id, spent }: Taken): Handed => ({ ...due, id, mailbox_id: spent.mailboxId })

/** To the next step, whose time counts from now; one that was stopped meanwhile stays so. */
async function goOn(db: Db, handed: Handed, at: Date): Promise<void> {
  const { account_id, id, sequence_id, prospect_id } = handed
  if (sequence_id === null || prospect_id === null) return
  const hasMailbox = await holdMailbox(db, account_id, handed.mailbox_id)
  const ref = { accountId: account_id, sequenceId: sequence_id, prospectId: prospect_id }
  const waiting = await lockHanding(db, { accountId: account_id, id }, sequence_id, prospect_id)
  if (!waiting) return
  const nextStep = waiting.next_step + 1
  const next = waiting.steps[nextStep]
  const dueAt = next ? daysLater(waiting.schedule.timezone, at, next.delayDays) : null
  await moveOnward(db, { ...ref, nextStep, dueAt, at })
  // A thread stays with its mailbox, and ends with it.
  if (!hasMailbox) await stopEnrollment(db, ref, 'mailbox_deleted', at)
}

/** Whoever handed it over is gone: it may have left, so it is taken for sent. */
export async function settleAbandoned(db: Db, message: OpenMessage): Promise<void> {
  const error = 'Nobody knows whether the mail server took it: the process that handed it over ended.'
  await goOn(db, message, message.created_at)
  await endMessage(
    db,
    { accountId: message.account_id, id: message.id },
    { state: 'unconfirmed', at: message.created_at, error },
  )
}

/** Not the prospect's fault: the step goes when the mailbox is mended, which may be so already. */
async function settleOwnFault(
  { db, taken, now }: Settling,
  reason: PauseReason,
  said: string,
): Promise<void> {
  await undo(db, taken, { dueAt: now, countsTry: false })
  const { sealed } = taken
  await pauseMailbox(db, mailboxOf(taken), { reason, error: sentence(said), sealed }, now)
}

const sentence = (said: string) => `${said.charAt(0).toUpperCase()}${said.slice(1)}`

async function undo(db: Db, taken: Taken, later: { dueAt: Date; countsTry: boolean }) {
  // The enrolment before its message: the order in which all others lock them.
  const waiting = await lockHanding(db, messageOf(taken), taken.due.sequence_id, taken.due.prospect_id)
  const dropped = await dropMessage(db, messageOf(taken))
  if (dropped > 0) await giveBack(db, taken.spent)
  if (!waiting) return undefined
  const tried = await tryLater(db, { ...refOf(taken.due), ...later })
  // Its step was taken out of the sequence while it was handed over.
  if (waiting.next_step >= waiting.steps.length) await finish(db, taken.due, later.dueAt)
  return tried
}

const minuteMs = 60_000
const unreachableMs = 10 * minuteMs
const refusedMs = 30 * minuteMs
const mostTries = 5

/** Later; where it is the message that is not taken, only so often. */
async function settleDeferred(settling: Settling, outcome: Of<'deferred'>): Promise<void> {
  const { db, taken, now } = settling
  const countsTry = outcome.stage !== null
  const dueAt = new Date(now.getTime() + (countsTry ? refusedMs : unreachableMs))
  const tried = await undo(db, taken, { dueAt, countsTry })
  if (countsTry && tried && tried.tries >= mostTries)
    await stopEnrollment(db, refOf(taken.due), 'undeliverable', now)
  const fault = faultOfMailbox(outcome)
  if (fault !== undefined) await noteSmtp(db, mailboxOf(taken), fault)
}

const ourFaults = ['sender', 'credentials']

async function settleRejected(settling: Settling, outcome: Of<'rejected'>): Promise<void> {
  const { db, taken, now } = settling
  const { due } = taken
  const verdict = classifyReply(outcome)
  if (outcome.stage === 'mail' || ourFaults.includes(verdict.class))
    return settleOwnFault(settling, 'sender', `the mail server refuses the sender: ${told(outcome)}`)
  const reason = verdict.suppresses ? 'bounced' : 'undeliverable'
  await stopEnrollment(db, refOf(due), reason, now)
  await goOn(db, handedOf(taken), now)
  const event = bounceEvent(outcome, verdict, now)
  const end = { state: 'failed', at: now, error: outcome.message, event } as const
  // It is recorded already, by a commit that nobody heard.
  if ((await endMessage(db, messageOf(taken), end)) === 0) return
  if (verdict.suppresses) {
    const why = { reason: 'hard_bounce', source: 'outreach', messageId: taken.id, at: now } as const
    await suppress(db, { accountId: due.account_id, email: due.email }, why)
  }
  await giveBackRefused(db, taken.spent)
  await recordBounce(db, mailboxOf(taken), now)
}

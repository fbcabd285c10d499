// Answers that people wrote: handed over as soon as their mailbox works, at most once. They take places of the day,
// which never keeps them from leaving.
import type { MailboxOutcome } from '../../../kernel/mailbox-ports.ts'
import { classifyReply } from '../../messages/bounces/classify-reply.ts'
import { isTemplateFault, type TemplateFault } from '../../messages/templates/fault.ts'
import { pauseMailbox } from '../mailboxes/health.ts'
import { countAnswer, noteSmtp } from '../mailboxes/health-queries.ts'
import { bounceEvent } from '../messages/events.ts'
import { utcDay } from '../planning/windows.ts'
import { addressOf, leaseMs } from './claim-step.ts'
import { composeOutreach, unsubscribeUrlOf } from './compose-outreach.ts'
import { capture, type EngineNeeds, record, sendThrough, turnMs } from './engine.ts'
import { type Lanes, openLanes } from './lanes.ts'
import { claimReplies, failHomeless, failUnwanted, type QueuedReply, replyLater } from './reply-queries.ts'
import { endMessage } from './settle-queries.ts'
import { faultOfMailbox, told } from './told.ts'

const portion = 20

// No fewer of one account than of all: what is claimed has to be started.
export const openReplyLanes = () => openLanes({ atOnce: 3 * portion, ofAccount: 3 * portion })

const minuteMs = 60_000
const mostTries = 10

/** Not to be called inside a transaction. With lanes of the caller's it does not wait for what is slow. */
export async function sendReplies(needs: EngineNeeds, given?: Lanes): Promise<void> {
  const lanes = given ?? openReplyLanes()
  const now = needs.now()
  await failUnwanted(needs.db)
  await failHomeless(needs.db)
  const leasedUntil = new Date(now.getTime() + leaseMs)
  const replies = await claimReplies(needs.db, now, { leasedUntil, limit: Math.min(portion, lanes.room()) })
  const work = (reply: QueuedReply) =>
    sendReply(needs, reply).catch((error) => {
      needs.log.error({ err: error, message: reply.id }, 'an answer of a person was not sent')
    })
  await lanes.run(replies, work, given && turnMs)
}

async function sendReply(needs: EngineNeeds, reply: QueuedReply): Promise<void> {
  const owner = { accountId: reply.account_id, email: reply.mailbox_email }
  const raw = await rawOf(needs, reply).catch(onlyFault)
  if (isTemplateFault(raw)) return failReply(needs, reply, raw)
  const letter = { from: reply.mailbox_email, to: reply.recipient, raw }
  const outcome =
    reply.mode === 'test'
      ? await capture(needs, reply, letter)
      : await sendThrough(needs, { owner, smtp: reply.smtp, sealed: reply.sealed }, letter)
  if (!outcome) return
  await record(needs, () => needs.db.transaction((db) => settleReply({ ...needs, db }, reply, outcome)))
}

function onlyFault(error: unknown): TemplateFault {
  if (isTemplateFault(error)) return error
  throw error
}

/** Of one that was taken before such HTML was refused. */
async function failReply({ db, now }: EngineNeeds, reply: QueuedReply, fault: TemplateFault): Promise<void> {
  const message = { accountId: reply.account_id, id: reply.id }
  await endMessage(db, message, { state: 'failed', at: now(), error: fault.message })
}

async function rawOf({ baseUrl, unsubscribeKeys }: EngineNeeds, reply: QueuedReply): Promise<Buffer> {
  const to = { accountId: reply.account_id, email: reply.recipient }
  return composeOutreach({
    id: reply.id,
    messageId: reply.message_id,
    from: addressOf({ email: reply.mailbox_email, name: reply.mailbox_name }),
    to: { email: reply.recipient },
    subject: reply.subject,
    text: reply.text === '' ? undefined : reply.text,
    html: reply.html ?? undefined,
    refs: reply.refs,
    identity: reply,
    unsubscribeUrl: unsubscribeUrlOf({ baseUrl, keys: await unsubscribeKeys() }, to),
    date: reply.created_at,
  }).raw
}

async function settleReply(needs: EngineNeeds, reply: QueuedReply, outcome: MailboxOutcome): Promise<void> {
  const { db } = needs
  const now = needs.now()
  const message = { accountId: reply.account_id, id: reply.id }
  const mailbox = { accountId: reply.account_id, mailboxId: reply.mailbox_id }
  if (outcome.kind === 'accepted' || outcome.kind === 'uncertain') {
    const [state, error] = outcome.kind === 'accepted' ? ['sent', null] : ['unconfirmed', outcome.message]
    const end = { state: state as 'sent' | 'unconfirmed', at: now, error: error ?? null }
    const ended = await endMessage(db, message, end)
    // Counted once, also where nobody heard the first commit. What a test key asked for went to the sandbox.
    if (ended > 0 && reply.mode === 'live') await countAnswer(db, mailbox, utcDay(now.getTime()))
    return
  }
  const isSpent = outcome.kind === 'rejected' || reply.tries + 1 >= mostTries
  if (isSpent)
    await endMessage(db, message, {
      state: 'failed',
      at: now,
      error: outcome.message,
      ...(outcome.kind === 'rejected' && { event: bounceEvent(outcome, classifyReply(outcome), now) }),
    })
  else await replyLater(db, message, { until: waitFrom(now, reply.tries), error: outcome.message })
  if (outcome.kind === 'login_refused')
    await pauseMailbox(db, mailbox, { reason: 'login', error: told(outcome), sealed: reply.sealed }, now)
  const fault = outcome.kind === 'deferred' ? faultOfMailbox(outcome) : undefined
  if (fault !== undefined) await noteSmtp(db, mailbox, fault)
}

const waitFrom = (now: Date, tries: number) => new Date(now.getTime() + minuteMs * 2 ** Math.min(tries, 6))

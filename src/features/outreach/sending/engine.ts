// Hands over what is due, in every worker process at once. No transaction is open while it talks to a mail server.
import type { Db } from '../../../kernel/db.ts'
import { newUuid } from '../../../kernel/id.ts'
import type { Log } from '../../../kernel/log.ts'
import type { MailboxOutcome, MailboxSender } from '../../../kernel/mailbox-ports.ts'
import { isDatabaseDown } from '../../../kernel/refusals.ts'
import { SealFault } from '../../../kernel/seal.ts'
import { surely } from '../../../kernel/surely.ts'
import { postponeEnrollment } from '../enrollments/stop-enrollments.ts'
import {
  openCredentials,
  type SecretKeys,
  type ServerSettings,
  serverWith,
} from '../mailboxes/credentials.ts'
import { type ClaimNeeds, claimStep, refOf, type Taken } from './claim-step.ts'
import { type Lanes, openLanes } from './lanes.ts'
import { type DueRef, findDue } from './queries.ts'
import { captureMessage, claimAbandoned } from './settle-queries.ts'
import { settleAbandoned, settleStep } from './settle-step.ts'

export type EngineNeeds = ClaimNeeds & {
  log: Log
  now: () => Date
  secretKeys: SecretKeys
  sender: MailboxSender
  stopping?: AbortSignal
}

const portion = 50

export const openStepLanes = () => openLanes({ atOnce: 20, ofAccount: 5 })

/** Not to be called inside a transaction. With lanes of the caller's it does not wait for what is slow. */
export async function sendDue(needs: EngineNeeds, lanes?: Lanes): Promise<void> {
  const waiting = await findDue(needs.db, needs.now(), { each: portion, all: portion * 4 })
  const work = async (due: DueRef) => {
    if (!needs.stopping?.aborted) await sendOne(needs, due)
  }
  await (lanes ?? openStepLanes()).run(waiting, work, lanes && turnMs)
}

/** How long others wait for what is slow. */
export const turnMs = 2_000

const failedMs = 3_600_000

/** One that fails by our own fault must not keep the others. */
async function sendOne(needs: EngineNeeds, due: DueRef): Promise<void> {
  try {
    const taken = await claimStep(needs, due, needs.now())
    const outcome = taken && (await handOver(needs, taken))
    if (outcome) await record(needs, () => settleStep(needs.db, taken, outcome, needs.now()))
  } catch (error) {
    if (isDatabaseDown(error)) throw error
    needs.log.error({ err: error, sequence: due.sequence_id }, 'a step of a sequence failed')
    await postponeEnrollment(needs.db, refOf(due), new Date(needs.now().getTime() + failedMs))
  }
}

/** The server's answer is kept meanwhile: without it, what never left would be taken for sent. */
export const record = ({ stopping }: EngineNeeds, write: () => Promise<void>): Promise<void> =>
  surely(write, () => stopping?.aborted === true)

async function handOver(needs: EngineNeeds, taken: Taken): Promise<MailboxOutcome | undefined> {
  const { due, from, raw, smtp, sealed } = taken
  if (taken.mode === 'test')
    return capture(needs, { account_id: due.account_id, id: taken.id }, { to: due.email, raw })
  const owner = { accountId: due.account_id, email: from }
  return sendThrough(needs, { owner, smtp, sealed }, { from, to: due.email, raw })
}

export type Through = { owner: { accountId: string; email: string }; smtp: ServerSettings; sealed: Buffer }
type Letter = { from: string; to: string; raw: Buffer }

/** Nothing when the process had to stop first: the message is then taken for sent when its lease is over. */
export async function sendThrough(
  { secretKeys, sender, stopping }: Pick<EngineNeeds, 'secretKeys' | 'sender' | 'stopping'>,
  { owner, smtp, sealed }: Through,
  letter: Letter,
): Promise<MailboxOutcome | undefined> {
  const secrets = await openCredentials(secretKeys, owner, sealed).catch((error) => {
    if (error instanceof SealFault) return undefined
    throw error
  })
  if (!secrets) return cannotOpen
  return unlessStopped(sender.send(serverWith(smtp, secrets.smtp), letter), stopping)
}

const cannotOpen: MailboxOutcome = {
  kind: 'login_refused',
  smtpCode: null,
  enhancedCode: null,
  message: 'the stored password cannot be opened: give it again',
}

// The service has ten seconds to stop.
const graceMs = 7_000

function unlessStopped<T>(work: Promise<T>, stopping: AbortSignal | undefined): Promise<T | undefined> {
  if (!stopping) return work
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const giveUpSoon = () => {
      timer = setTimeout(() => resolve(undefined), graceMs)
    }
    if (stopping.aborted) giveUpSoon()
    else stopping.addEventListener('abort', giveUpSoon, { once: true })
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      stopping.removeEventListener('abort', giveUpSoon)
    })
  })
}

type Captured = { account_id: string; id: string }

/** What a key of mode test asked for does not leave the machine. */
export async function capture(
  { db, now }: EngineNeeds,
  { account_id: accountId, id }: Captured,
  { to, raw }: Pick<Letter, 'to' | 'raw'>,
): Promise<MailboxOutcome> {
  const recipient = to.toLowerCase()
  await captureMessage(db, { accountId, id, captureId: newUuid(), recipient, raw, at: now() })
  return { kind: 'accepted', response: '250 2.0.0 captured' }
}

/** Messages whose process ended while they were handed over. */
export async function settleOpen(db: Db, now: Date): Promise<void> {
  for (let found = portion; found === portion; ) {
    found = await db.transaction(async (tx) => {
      const abandoned = await claimAbandoned(tx, now, portion)
      for (const message of abandoned) await settleAbandoned(tx, message)
      return abandoned.length
    })
  }
}

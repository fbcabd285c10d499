// Every mailbox of outreach is watched by one process at a time, which holds a lease on it and renews it. Mailboxes are
// taken a few at a time, so that processes share them and no server sees all of its users come at once.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../kernel/db.ts'
import { newUuid } from '../../../kernel/id.ts'
import type { Log } from '../../../kernel/log.ts'
import { MailboxFault, type MailboxReader, type OpenMailbox } from '../../../kernel/mailbox-ports.ts'
import { isDatabaseDown } from '../../../kernel/refusals.ts'
import { SealFault } from '../../../kernel/seal.ts'
import { openCredentials, type SecretKeys, serverWith } from '../mailboxes/credentials.ts'
import { pauseMailbox } from '../mailboxes/health.ts'
import { resolveUnread, tellUnread } from '../mailboxes/unread.ts'
import { type Held, surplus } from './surplus.ts'
import { syncMailbox } from './sync-mailbox.ts'
import {
  claimMailboxes,
  listWaiting,
  mostLoginFailures,
  recordFailure,
  recordSync,
  releaseWatch,
  renewLeases,
  type WatchedRow,
} from './watch-queries.ts'

export type Timings = {
  /** Between looks for mailboxes that nobody watches. */
  tickMs: number
  /** A killed process loses its mailboxes after this long. */
  leaseMs: number
  /** The longest between two looks into a mailbox, whatever its server tells. */
  waitMs: number
  retryMs: number
}

export type WatchNeeds = {
  db: Db
  log: Log
  now: () => Date
  reader: MailboxReader
  secretKeys: SecretKeys
  timings?: Partial<Timings>
  /** How many mailboxes a process watches. */
  most?: number
}

const usual: Timings = { tickMs: 5_000, leaseMs: 45_000, waitMs: 5 * 60_000, retryMs: 30_000 }
const startedAtOnce = 10
const betweenStartsMs = 500
const usualMost = 1_000
const longestRetryMs = 30 * 60_000

const full =
  'more mailboxes than this process watches: follow-ups of those that wait do so as well, until there is another worker'

export type Watching = { stop(): Promise<void> }

type Watch = Held & { over: Promise<void> }

export function startWatching(needs: WatchNeeds): Watching {
  const timings = { ...usual, ...needs.timings }
  const most = needs.most ?? usualMost
  const holder = newUuid()
  const watches = new Map<string, Watch>()
  const stopping = new AbortController()
  let isFull = false

  const lease = () => {
    const now = needs.now()
    return { holder, now, until: new Date(now.getTime() + timings.leaseMs) }
  }

  async function renew(): Promise<void> {
    if (watches.size === 0) return
    const begun = [...watches.keys()]
    const kept = new Set((await renewLeases(needs.db, lease())).map(({ mailbox_id }) => mailbox_id))
    for (const id of begun) if (!kept.has(id)) watches.get(id)?.controller.abort()
  }

  /** Whether there may be more. */
  async function claim(): Promise<boolean> {
    const limit = Math.min(startedAtOnce, most - watches.size)
    if (limit <= 0) return makeRoom()
    const mailboxes = await claimMailboxes(needs.db, lease(), limit)
    for (const mailbox of mailboxes) begin(mailbox)
    return mailboxes.length === startedAtOnce
  }

  /** Whether places become free: those of an account that has more of them than others who wait. */
  async function makeRoom(): Promise<boolean> {
    const accounts = await listWaiting(needs.db, needs.now())
    const given = surplus([...watches.values()], accounts)
    for (const { controller } of given) controller.abort()
    const waiting = accounts.reduce((sum, one) => sum + one.waiting, 0)
    if (waiting > 0 && !isFull) needs.log.warn({ watched: watches.size, waiting }, full)
    isFull = waiting > 0
    return given.length > 0
  }

  function begin(mailbox: WatchedRow): void {
    const controller = new AbortController()
    // What is left of an earlier watch ends first.
    const before = watches.get(mailbox.id)
    before?.controller.abort()
    const over = Promise.resolve(before?.over)
      .then(() => watch({ ...needs, timings, holder, mailbox }, controller.signal))
      .catch((error) => needs.log.error({ err: error, mailbox: mailbox.id }, 'watching a mailbox failed'))
      .finally(() => {
        if (watches.get(mailbox.id)?.controller === controller) watches.delete(mailbox.id)
      })
    watches.set(mailbox.id, { accountId: mailbox.account_id, controller, over })
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const isMore = await renew()
        .then(claim)
        .catch((error) => {
          if (!isDatabaseDown(error)) needs.log.error({ err: error }, 'looking for mailboxes failed')
          return false
        })
      await sleep(isMore ? Math.min(betweenStartsMs, timings.tickMs) : timings.tickMs, undefined, {
        signal: stopping.signal,
      }).catch(() => {})
    }
  }

  const looping = loop()
  return {
    async stop() {
      stopping.abort()
      await looping
      for (const { controller } of watches.values()) controller.abort()
      await Promise.all([...watches.values()].map(({ over }) => over))
    },
  }
}

type WatchOne = Omit<WatchNeeds, 'timings'> & { timings: Timings; holder: string; mailbox: WatchedRow }

const refOf = ({ mailbox, holder }: WatchOne) => ({
  accountId: mailbox.account_id,
  mailboxId: mailbox.id,
  holder,
})

async function watch(one: WatchOne, stopping: AbortSignal): Promise<void> {
  let open: OpenMailbox | undefined
  // Whatever is under way ends with its connection.
  const hangUp = () => open?.close()
  stopping.addEventListener('abort', hangUp)
  try {
    open = await openMailbox(one)
    await readThrough(one, open, stopping)
    await resolveUnread(one.db, { ...refOf(one), email: one.mailbox.email }, one.now())
    while (!stopping.aborted) {
      await open.wait(one.timings.waitMs, stopping)
      await readThrough(one, open, stopping)
    }
    await release(one, { afterMs: 0, isLogin: false })
  } catch (error) {
    if (stopping.aborted) await release(one, { afterMs: 0, isLogin: false })
    else await giveUp(one, error)
  } finally {
    stopping.removeEventListener('abort', hangUp)
    hangUp()
  }
}

async function readThrough(one: WatchOne, open: OpenMailbox, stopping: AbortSignal): Promise<void> {
  const began = one.now()
  await syncMailbox({ ...one, open }, stopping)
  // One that was broken off has not seen everything.
  if (stopping.aborted) return
  await recordSync(one.db, refOf(one), { began, at: one.now() })
}

async function openMailbox({ mailbox, secretKeys, reader }: WatchOne): Promise<OpenMailbox> {
  const owner = { accountId: mailbox.account_id, email: mailbox.email }
  const { imap } = await openCredentials(secretKeys, owner, mailbox.sealed).catch((error) => {
    if (!(error instanceof SealFault)) throw error
    throw new MailboxFault('login', 'the stored password cannot be opened: give it again')
  })
  return reader.open(serverWith(mailbox.imap, imap))
}

/** Tried again later, by whoever comes first. */
async function giveUp(one: WatchOne, error: unknown): Promise<void> {
  if (isDatabaseDown(error)) return
  const isFault = error instanceof MailboxFault
  if (!isFault) one.log.error({ err: error, mailbox: one.mailbox.id }, 'reading a mailbox failed')
  const words = isFault ? error.message : 'the mailbox could not be read: something went wrong on our side'
  const isLogin = isFault && error.code === 'login'
  const failures = await recordFailure(one.db, refOf(one), isLogin ? `${words} (${patience})` : words)
  await tellUnread(one.db, { ...refOf(one), email: one.mailbox.email }, { failures, words }, one.now())
  const waitMs = Math.min(longestRetryMs, one.timings.retryMs * 2 ** Math.min(10, failures - 1))
  // Servers come back for all of their users at the same moment.
  const refused = await release(one, { afterMs: waitMs * (0.75 + Math.random() / 2), isLogin })
  if (isLogin && refused >= mostLoginFailures)
    await pauseMailbox(
      one.db,
      refOf(one),
      { reason: 'login', error: words, sealed: one.mailbox.sealed },
      one.now(),
    )
}

const patience = `after ${mostLoginFailures} times it is left alone until its settings change`

function release(one: WatchOne, { afterMs, isLogin }: { afterMs: number; isLogin: boolean }) {
  const now = one.now()
  const nextTryAt = new Date(now.getTime() + afterMs)
  return releaseWatch(one.db, refOf(one), { now, nextTryAt, isLogin })
}

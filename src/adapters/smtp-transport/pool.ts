import { setMaxListeners } from 'node:events'
import type { Said } from '../../kernel/ports.ts'
import { within } from '../../kernel/within.ts'
import { type Backoff, openBackoff } from './backoff.ts'
import { type Blame, openBlame } from './blame.ts'
import type { Server } from './connect.ts'
import { carry, type Desk, type Job } from './delivery.ts'
import { deferredByTransport, saidOf, shuttingDown } from './outcome.ts'
import { openSession, quit, type Session } from './session.ts'

export type Pool = { add(job: Job): void; close(): Promise<void> }

// Longer than this a message does not wait for the server to come back: its sender has better means.
const patienceMs = 1000
// A server may take seconds for a message, and whoever stops the process about ten.
const closingMs = 7000
// What has only its envelope there is not begun after this: a slow server would be left in the middle of it.
const beginningMs = 1000

type State = {
  server: Server
  waiting: Job[]
  opening: number
  /** Connections that take messages; the idle ones among them in the order in which they came to rest. */
  sessions: Set<Session>
  idle: Map<Session, NodeJS.Timeout>
  leaving: Set<Session>
  backoff: Backoff
  blame: Blame
  stop: AbortController
  /** By performance.now(). */
  closedAt: number
  willGrow: boolean
  retry: NodeJS.Timeout | undefined
  /** Hears when the last place is free. */
  emptied: () => void
}

export function openPool(server: Server): Pool {
  const pool: State = {
    server,
    waiting: [],
    opening: 0,
    sessions: new Set(),
    idle: new Map(),
    leaving: new Set(),
    backoff: openBackoff(),
    blame: openBlame(),
    stop: new AbortController(),
    closedAt: Number.POSITIVE_INFINITY,
    willGrow: false,
    retry: undefined,
    emptied: () => {},
  }
  // Each connection that is being made listens.
  setMaxListeners(0, pool.stop.signal)
  return {
    add(job) {
      if (isClosing(pool)) return job.settle(deferredByTransport(shuttingDown))
      pool.waiting.push(job)
      pump(pool)
    },
    close: () => close(pool),
  }
}

const isClosing = ({ stop }: State) => stop.signal.aborted
const taken = ({ opening, sessions, leaving }: State) => opening + sessions.size + leaving.size

function pump(pool: State) {
  const { waiting, idle, server } = pool
  if (idle.size > 0) {
    for (const session of [...idle.keys()].reverse()) if (waiting.length > 0) run(pool, session)
  }
  if (waiting.length === 0 || pool.willGrow || taken(pool) === server.connections) return
  // A connection that is just done comes first: it takes what waits before the turn of the event loop is over.
  pool.willGrow = true
  setImmediate(grow, pool)
}

function grow(pool: State) {
  pool.willGrow = false
  while (mayOpen(pool)) open(pool)
  if (pool.waiting.length === 0 || pool.opening + pool.sessions.size > 0) return
  const leftMs = pool.backoff.leftMs()
  if (leftMs > patienceMs) return deferAll(pool, pool.backoff.said())
  clearTimeout(pool.retry)
  // Also when nothing is left by now: the look at the clock before this one may have come just too early.
  // Where all places are those of connections that leave, the last word of each asks again.
  if (taken(pool) < pool.server.connections) pool.retry = setTimeout(grow, Math.ceil(leftMs), pool)
}

function mayOpen(pool: State): boolean {
  const { waiting, opening, server, backoff } = pool
  if (waiting.length <= opening || taken(pool) >= server.connections) return false
  return backoff.leftMs() === 0 && (opening === 0 || !backoff.isTroubled())
}

async function open(pool: State) {
  const startedAt = performance.now()
  pool.opening += 1
  try {
    const session = await openSession(pool.server, pool.stop.signal)
    pool.opening -= 1
    pool.sessions.add(session)
    session.channel.closed.then(() => drop(pool, session))
    run(pool, session)
  } catch (error) {
    pool.opening -= 1
    refused(pool, startedAt, saidOf(error))
  }
}

function refused(pool: State, startedAt: number, said: Said) {
  pool.backoff.failed(startedAt, said)
  if (pool.opening + pool.sessions.size === 0) deferAll(pool, said)
  leavePlace(pool)
}

function deferAll({ waiting, backoff }: State, said: Said) {
  const leftMs = backoff.leftMs()
  for (const job of waiting.splice(0)) job.settle(deferredByTransport(said, leftMs))
}

async function run(pool: State, session: Session) {
  const { channel } = session
  stir(pool, session)
  channel.keepAlive(true)
  await carry(session, deskOf(pool))
  if (channel.loss()) return
  if (session.begun >= pool.server.messages || isClosing(pool)) return retire(pool, session)
  channel.keepAlive(false)
  pool.idle.set(session, setTimeout(retire, pool.server.idleMs, pool, session).unref())
  if (pool.waiting.length > 0) pump(pool)
}

function deskOf(pool: State): Desk {
  const { waiting, backoff, blame, server } = pool
  return {
    blame,
    take: (session) => (session.begun < server.messages ? waiting.shift() : undefined),
    mayBeginText: () => performance.now() - pool.closedAt < beginningMs,
    giveBack(job, said) {
      if (isClosing(pool)) return job.settle(deferredByTransport(said))
      job.retried = true
      waiting.unshift(job)
      pump(pool)
    },
    answered(session) {
      if (session.answered === 1) backoff.worked()
    },
  }
}

function stir({ idle }: State, session: Session) {
  clearTimeout(idle.get(session))
  idle.delete(session)
}

function retire(pool: State, session: Session) {
  stir(pool, session)
  pool.sessions.delete(session)
  pool.leaving.add(session)
  pool.backoff.excuse()
  quit(session.channel, pool.server.replyMs)
}

/** The socket is gone, and only now may another take its place. */
function drop(pool: State, session: Session) {
  stir(pool, session)
  pool.sessions.delete(session)
  const loss = pool.leaving.delete(session) ? undefined : session.channel.loss()
  // A server that ends the connection at the first message is as good as one that takes none.
  if (loss && session.begun > 0 && session.answered === 0) pool.backoff.failed(session.openedAt, loss.said)
  leavePlace(pool)
}

function leavePlace(pool: State) {
  pump(pool)
  if (taken(pool) === 0) pool.emptied()
}

async function close(pool: State) {
  const empty = new Promise<void>((resolve) => {
    pool.emptied = resolve
  })
  pool.closedAt = performance.now()
  pool.stop.abort()
  clearTimeout(pool.retry)
  deferAll(pool, shuttingDown)
  for (const session of pool.idle.keys()) retire(pool, session)
  if (taken(pool) === 0) return
  await within(closingMs, empty, () => new Error('late')).catch(() => {
    for (const { channel } of [...pool.sessions, ...pool.leaving]) channel.abandon(shuttingDown)
    return empty
  })
}

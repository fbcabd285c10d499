import type { Said } from '../../kernel/ports.ts'
import { within } from '../../kernel/within.ts'
import { openBackoff } from './backoff.ts'
import type { Server } from './connect.ts'
import { carry, type Desk, type Job } from './delivery.ts'
import { deferredByTransport, saidOf, unanswered } from './outcome.ts'
import { openSession, quit, type Session } from './session.ts'

export type Pool = { add(job: Job): void; close(): Promise<void> }

// Longer than this a message does not wait for the server to come back: its sender has better means.
const patienceMs = 1000
const closingMs = 5000
const closed = unanswered('the sender is shutting down')

export function openPool(server: Server): Pool {
  const waiting: Job[] = []
  /** Connections that take messages; the idle ones among them in the order in which they came to rest. */
  const sessions = new Set<Session>()
  const idle = new Map<Session, NodeJS.Timeout>()
  const leaving = new Set<Session>()
  const backoff = openBackoff()
  const stop = new AbortController()
  let opening = 0
  let willGrow = false
  let retry: NodeJS.Timeout | undefined
  let emptied = () => {}

  const places = () => opening + sessions.size + leaving.size

  const desk: Desk = {
    take: (session) => (session.begun < server.messages ? waiting.shift() : undefined),
    giveBack(job, said) {
      if (stop.signal.aborted) return job.settle(deferredByTransport(said))
      job.retried = true
      waiting.unshift(job)
      pump()
    },
    answered(session) {
      if (session.answered === 1) backoff.worked()
    },
  }

  const pump = () => {
    for (const session of [...idle.keys()].reverse()) {
      if (waiting.length === 0) return
      run(session)
    }
    // A connection that is just done comes first: it takes what waits before the turn of the event loop is over.
    if (waiting.length === 0 || places() === server.connections || willGrow) return
    willGrow = true
    setImmediate(grow)
  }

  const grow = () => {
    willGrow = false
    while (mayOpen()) open()
    if (waiting.length === 0 || opening + sessions.size > 0) return
    const leftMs = backoff.leftMs()
    if (leftMs > patienceMs) return deferAll(backoff.said())
    clearTimeout(retry)
    if (leftMs > 0) retry = setTimeout(grow, Math.ceil(leftMs))
  }

  const mayOpen = () =>
    waiting.length > opening &&
    places() < server.connections &&
    backoff.leftMs() === 0 &&
    !(backoff.isTroubled() && opening > 0)

  const open = async () => {
    const startedAt = performance.now()
    opening += 1
    try {
      const session = await openSession(server, stop.signal)
      sessions.add(session)
      session.channel.closed.then(() => drop(session))
      opening -= 1
      run(session)
    } catch (error) {
      opening -= 1
      refused(startedAt, saidOf(error))
    }
  }

  const refused = (startedAt: number, said: Said) => {
    backoff.failed(startedAt, said)
    if (opening + sessions.size === 0) deferAll(said)
    pump()
    if (places() === 0) emptied()
  }

  const deferAll = (said: Said) => {
    const leftMs = backoff.leftMs()
    for (const job of waiting.splice(0)) job.settle(deferredByTransport(said, leftMs))
  }

  const run = async (session: Session) => {
    clearTimeout(idle.get(session))
    idle.delete(session)
    session.channel.keepAlive(true)
    await carry(session, desk)
    if (session.channel.loss()) return
    if (session.begun >= server.messages || stop.signal.aborted) return retire(session)
    rest(session)
    if (waiting.length > 0) pump()
  }

  const rest = (session: Session) => {
    session.channel.keepAlive(false)
    idle.set(session, setTimeout(retire, server.idleMs, session).unref())
  }

  const retire = (session: Session) => {
    forget(session)
    leaving.add(session)
    backoff.excuse()
    quit(session.channel, server.replyMs)
  }

  const forget = (session: Session) => {
    clearTimeout(idle.get(session))
    idle.delete(session)
    sessions.delete(session)
  }

  /** The socket is gone, and only now may another take its place. */
  const drop = (session: Session) => {
    forget(session)
    const loss = leaving.delete(session) ? undefined : session.channel.loss()
    if (loss && session.begun > 0 && session.answered === 0) backoff.failed(session.openedAt, loss.said)
    pump()
    if (places() === 0) emptied()
  }

  const close = async () => {
    const empty = new Promise<void>((resolve) => {
      emptied = resolve
    })
    stop.abort()
    clearTimeout(retry)
    deferAll(closed)
    for (const session of idle.keys()) retire(session)
    if (places() === 0) return
    await within(closingMs, empty, () => new Error('late')).catch(() => {
      for (const { channel } of [...sessions, ...leaving]) channel.abandon(closed)
      return empty
    })
  }

  return {
    add(job) {
      if (stop.signal.aborted) return job.settle(deferredByTransport(closed))
      waiting.push(job)
      pump()
    },
    close,
  }
}

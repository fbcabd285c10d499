// Keeps all processes together under the rate that an upstream allows.
import type { Db } from '../../kernel/db.ts'
import type { Log } from '../../kernel/log.ts'
import type { Transport } from '../../kernel/ports.ts'
import { pushBack, takeSlots } from './upstream-rate-queries.ts'

export type Turn = 'go' | 'late' | 'stopped'

export type Pace = {
  /** `isLate` is asked when the turn comes, so that no slot is spent on what may not be sent any more. */
  turn(isLate: () => boolean): Promise<Turn>
  perSecond(): Promise<number | null>
  /** No process hands over for this long: the upstream has said that it is too much. */
  pushBack(ms: number): Promise<void>
  stop(): void
}

export type PaceNeeds = { db: Db; log: Log; transport: Transport }

type Waiting = { isLate: () => boolean; resolve: (turn: Turn) => void; reject: (error: unknown) => void }

// Until the upstream has told its own: what Amazon gives to a new account.
const cautious = 1

// A process that stood still lets the slots of that time go by: used all at once, they would be more than the upstream
// allows. Timers are a little late at any time.
const lateMs = 50

export function openPace(needs: PaceNeeds): Pace {
  const waiting: Waiting[] = []
  const stopping = new AbortController()
  let known: number | null = cautious
  let isDispensing = false

  async function perSecond(): Promise<number | null> {
    try {
      known = (await needs.transport.perSecond?.()) ?? null
    } catch (error) {
      needs.log.warn(
        { err: error, perSecond: known },
        'the upstream did not tell its rate; the last one is kept',
      )
    }
    return known
  }

  async function dispense(): Promise<void> {
    if (isDispensing) return
    isDispensing = true
    try {
      while (waiting.length > 0 && !stopping.signal.aborted) await giveTurns()
    } catch (error) {
      for (const one of waiting.splice(0)) one.reject(error)
    } finally {
      isDispensing = false
    }
  }

  /** A failure is told to all who wait, and so to these too: whoever hears nothing keeps its slot for ever. */
  const putBack = (ready: Waiting[]) => (error: unknown) => {
    waiting.unshift(...ready)
    throw error
  }

  async function giveTurns(): Promise<void> {
    const rate = await perSecond()
    const ready = takeReady(waiting, rate)
    if (ready.length === 0) return
    const wait = rate === null ? 0 : await firstSlot(needs, ready.length, rate).catch(putBack(ready))
    const start = performance.now() + wait
    const last = ready.length - 1
    let given = 0
    for (let i = 0; i <= last; i++) {
      const slot = rate === null ? start : start + (i * 1000) / rate
      await sleepUntil(slot, stopping.signal)
      // The last is used however late, where no other was: a machine that is always late sends slowly, but it sends.
      const isOver = rate !== null && performance.now() - slot > lateMs && (given > 0 || i < last)
      if (stopping.signal.aborted || !isOver)
        ready[given++]?.resolve(stopping.signal.aborted ? 'stopped' : 'go')
    }
    // Those whose slots went by take new ones, before all others.
    const left = ready.slice(given)
    if (stopping.signal.aborted) for (const one of left) one.resolve('stopped')
    else waiting.unshift(...left)
  }

  return {
    turn: (isLate) =>
      new Promise((resolve, reject) => {
        if (stopping.signal.aborted) return resolve('stopped')
        waiting.push({ isLate, resolve, reject })
        dispense()
      }),
    perSecond,
    pushBack: async (ms) => {
      await pushBack(needs.db, needs.transport.kind, ms)
    },
    stop() {
      stopping.abort()
      for (const one of waiting.splice(0)) one.resolve('stopped')
    },
  }
}

/** A quarter of a second's worth at most: slots that are taken early are slots that others cannot use. */
function takeReady(waiting: Waiting[], rate: number | null): Waiting[] {
  const most = rate === null ? waiting.length : Math.max(1, Math.floor(rate / 4))
  const ready: Waiting[] = []
  while (ready.length < most) {
    const next = waiting.shift()
    if (!next) break
    if (next.isLate()) next.resolve('late')
    else ready.push(next)
  }
  return ready
}

async function firstSlot({ db, transport }: PaceNeeds, count: number, perSecond: number): Promise<number> {
  const { wait_ms } = await takeSlots(db, { upstream: transport.kind, count, perSecond })
  return wait_ms
}

function sleepUntil(time: number, stopping: AbortSignal): Promise<void> {
  const ms = time - performance.now()
  if (ms < 1 || stopping.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      stopping.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    stopping.addEventListener('abort', done)
  })
}

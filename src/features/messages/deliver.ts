// Delivery: claim a batch, commit, talk to the upstream outside any transaction, record what it said.
// A slot is free again only when the result is committed, so a crash can double at most as many messages
// as there are slots.
import { setTimeout as sleep } from 'node:timers/promises'
import { gather } from '../../kernel/gather.ts'
import { newUuid } from '../../kernel/id.ts'
import { isDatabaseDown } from '../../kernel/refusals.ts'
import { isPassing } from '../../kernel/surely.ts'
import { askAgain } from './ask-again.ts'
import { claimDue, releaseClaims } from './claim-queries.ts'
import { openAhead } from './compose-ahead.ts'
import { isBodyApart, leaveQueue, loadDue } from './delivery-queries.ts'
import { compose, goesUpstream, type HandOverNeeds, handOver, isNotSignedFor } from './hand-over.ts'
import { openLeases } from './leases.ts'
import { lanes, type Stream } from './model.ts'
import { type HandedOver, settle } from './settle.ts'
import { openTurns, type Turns } from './turns.ts'
import { openPace, type Pace } from './upstream-rate.ts'
import { openUpstreamState } from './upstream-state.ts'

export type DeliveryNeeds = HandOverNeeds & {
  retryFactor: number
  /** Long enough for the slowest upstream; a crashed worker's messages wait this long. */
  leaseSeconds: number
  takenIsDelivered?: boolean
}

export type Delivery = {
  /** Something may be due at once. */
  wake(): void
  stop(): Promise<void>
}

const idleMs = 500
// Longer than a result that waits for the database takes to notice that it is back.
const restMs = 2_000
// How long a lane rests after the upstream has refused as a whole, whatever wait it asks for: a probe now and then
// finds out that it has been repaired.
const shortestPauseMs = 1_000
const longestPauseMs = 30_000
const batch = 200
const settleWaitMs = 10
// A large message is in memory several times on its way.
const largeAtOnce = 4
const mostSmall = 1024 * 1024
const mostWaiting = 5 * batch

const isLarge = ({ body_size, attached_size }: Due) => body_size + attached_size > mostSmall

/** `askedAt`, `leaseEnds`: by performance.now(). */
type Due = HandedOver['due'] & { askedAt: number; leaseEnds: number }

export function startDelivery(needs: DeliveryNeeds): Delivery {
  const pace = needs.transport.perSecond && openPace(needs)
  const shared = { ...needs, pace, tellState: openUpstreamState(needs), large: openTurns(largeAtOnce) }
  const running = (Object.keys(lanes) as Stream[]).map((stream) => startLane(shared, lanes[stream]))
  return {
    wake() {
      for (const lane of running) lane.wake()
    },
    async stop() {
      const stopped = running.map((lane) => lane.stop())
      pace?.stop()
      needs.transport.letGo?.()
      await Promise.all(stopped)
    },
  }
}

type LaneNeeds = DeliveryNeeds & {
  pace: Pace | undefined
  /** Of all lanes. */
  large: Turns
  tellState: (id: string, outcome: HandedOver['outcome']) => void
}

function startLane(needs: LaneNeeds, lane: number): Delivery {
  const { leaseSeconds, large } = needs
  const taken = new Set<Due>()
  // The more results share a transaction, the less each costs; one that has nobody to wait for goes at once.
  const settleTogether = gather((handedOver: HandedOver[]) => settle(needs, handedOver), {
    enough: () => Math.min(taken.size, needs.transport.concurrency / 2),
    waitMs: settleWaitMs,
  })
  // Late are those whose turn comes when too little of the lease is left: nobody has tried them.
  const [waiting, late]: [Due[], Due[]] = [[], []]
  // Fetched ahead, so that no slot waits for a claim while there is work; a paced upstream is in no hurry.
  const ahead = needs.pace ? 0 : batch / 2
  const [leases, composed] = [openLeases(needs), composingAhead(needs)]
  let [isStopping, isDatabaseAway] = [false, false]
  // No hand-over before this time: the upstream has just said that it takes nobody's mail.
  let pausedUntil = 0
  let refilling: Promise<void> | undefined
  let wakeUp = () => {}

  async function refill() {
    if (isDatabaseAway) return comeBack()
    const those = [...late]
    await giveBack(those)
    // Not before: what the database could not be told of would wait for the end of its lease.
    late.splice(0, those.length)
    const limit = await claimLimit(needs)
    const except = [...waiting, ...taken].map(({ id }) => id)
    const exceptAccounts = large.isFull() ? accountsWithEnough(waiting) : []
    // From before the claim: the answer may have taken its time.
    const leaseEnds = performance.now() + leaseSeconds * 1000
    const claimed = await claimDue(needs.db, { lane, limit, leaseSeconds, except, exceptAccounts })
    const claims = new Map(claimed.map((one) => [one.message_id, one]))
    const askedAt = performance.now()
    const found = claimed.length > 0 ? await needs.db.byKeys((tx) => loadDue(tx, [...claims.keys()])) : []
    for (const due of found) {
      const { attempts = 1, since } = claims.get(due.id) ?? {}
      claims.delete(due.id)
      waiting.push(Object.assign(due, { attempts, askedAt, leaseEnds, due_from: since ?? due.due_from }))
    }
    // Nothing is left of these that could be sent.
    if (claims.size > 0) await leaveQueue(needs.db, [...claims.keys()])
    if (claimed.length === 0) await idle()
  }

  async function comeBack(): Promise<void> {
    // Leases may have ended meanwhile: whose results wait for the database, here or elsewhere, is let go first.
    await claimDue(needs.db, { lane, limit: 0, leaseSeconds })
    isDatabaseAway = false
    await sleep(restMs)
  }

  function idle(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, idleMs)
      wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
      if (isStopping) wakeUp()
    })
  }

  async function take(): Promise<Due | undefined> {
    while (!isStopping) {
      const pause = pausedUntil - performance.now()
      if (pause > 0) {
        await sleep(Math.min(pause, idleMs))
        continue
      }
      if (isLow(waiting, ahead)) refilling ??= refillOrIdle()
      const next = pick(waiting, large)
      composed.start(waiting)
      // Half of the lease must be left: after its end another worker may have the message.
      if (next && next.leaseEnds - performance.now() > leaseSeconds * 500) {
        // At once: a claim that has just begun asks for what is here when this function has returned.
        taken.add(next)
        if (isLarge(next)) large.enter()
        return next
      }
      if (next) late.push(next)
      // What waits is large, and enough of those are under way.
      else if (waiting.length > 0) await Promise.race([large.freed(), refilling ?? large.freed()])
      else await refilling
    }
    return undefined
  }

  async function refillOrIdle() {
    try {
      await refill()
    } catch (error) {
      isDatabaseAway = isDatabaseDown(error)
      needs.log.error({ err: error, lane }, 'claiming messages failed')
      await idle()
    } finally {
      refilling = undefined
    }
  }

  async function work() {
    for (let due = await take(); due; due = await take()) {
      const { id } = due
      // The lease gives it back.
      await deliver(due).catch((error) => needs.log.error({ err: error, message: id }, 'delivery failed'))
      taken.delete(due)
      if (isLarge(due)) large.leave()
    }
  }

  async function deliver(due: Due): Promise<void> {
    const isLate = () => due.leaseEnds - performance.now() < leaseSeconds * 250
    // What goes nowhere takes nothing of the upstream's rate.
    const pace =
      needs.pace && goesUpstream(due) && !(await isNotSignedFor(needs, due)) ? needs.pace : undefined
    const turn = pace ? await pace.turn(isLate) : 'go'
    if (turn === 'stopped') waiting.push(due)
    if (turn === 'late') late.push(due)
    if (turn === 'go') await leases.hold(due, () => send(due))
  }

  async function send(due: Due): Promise<void> {
    const raw = await composed.take(due)
    const outcome = isStopping || !raw ? undefined : await handOver(needs, due, raw)
    // It has not begun: another process need not wait for the lease.
    if (!outcome || (isStopping && isPutOff(outcome))) return void late.push(due)
    if (Buffer.isBuffer(raw) && goesUpstream(due)) needs.tellState(due.id, outcome)
    if (isPutOff(outcome)) await ease(outcome.retryAfterMs)
    await record({ due, outcome, eventId: newUuid() })
  }

  /** One refusal of this kind stands for all: the rest of the queue need not hear it too. */
  async function ease(askedMs = shortestPauseMs): Promise<void> {
    const pauseMs =
      Math.min(longestPauseMs, Math.max(shortestPauseMs, askedMs)) * Math.min(1, needs.retryFactor)
    pausedUntil = Math.max(pausedUntil, performance.now() + pauseMs)
    await giveBack(waiting.splice(0))
    await needs.pace?.pushBack(pauseMs)
  }

  async function giveBack(claims: Due[]): Promise<void> {
    if (claims.length > 0) await releaseClaims(needs.db, claims)
  }

  const settleAlone = (one: HandedOver) => settle(needs, [one])

  // While the database is away the slot stays taken: what a lost result sends twice is bounded by the slots. A result
  // that cannot be written takes none of those with it that it was to be written with.
  async function record(handedOver: HandedOver): Promise<void> {
    let write: (one: HandedOver) => Promise<unknown> = settleTogether
    for (;;) {
      try {
        await write(handedOver)
        return
      } catch (error) {
        if (isPassing(error) ? isStopping : write === settleAlone) throw error
        if (isPassing(error)) await sleep(idleMs)
        else write = settleAlone
      }
    }
  }

  const workers = Array.from({ length: needs.transport.concurrency }, work)
  return {
    wake: () => wakeUp(),
    async stop() {
      isStopping = true
      wakeUp()
      await Promise.all(workers)
      await refilling
      leases.stop()
      await giveBack([...waiting, ...late])
    },
  }
}

type PutOff = Extract<HandedOver['outcome'], { kind: 'deferred' }>

const isPutOff = (outcome: HandedOver['outcome']): outcome is PutOff =>
  outcome.kind === 'deferred' && outcome.fault === 'transport'

/** Large ones that wait for each other let the others pass, and more of those be fetched. */
const isLow = (waiting: Due[], ahead: number) =>
  waiting.length <= ahead || (waiting.length < mostWaiting && waiting.every(isLarge))

function accountsWithEnough(waiting: Due[]): string[] {
  const those = waiting.filter(isLarge).map(({ account_id }) => account_id)
  return those.length > largeAtOnce ? [...new Set(those)] : []
}

function pick(waiting: Due[], large: Turns): Due | undefined {
  if (!large.isFull()) return waiting.shift()
  const at = waiting.findIndex((one) => !isLarge(one))
  return at < 0 ? undefined : waiting.splice(at, 1)[0]
}

function composingAhead(needs: LaneNeeds) {
  const ahead = openAhead((due: Due) => compose(needs, due), {
    isLight: (due) => due.attached_size === 0 && !isBodyApart(due),
    // Where the upstream signs there is little to do, and where it sets the pace there is time.
    most: needs.pace || needs.transport.signs ? 0 : needs.transport.concurrency,
  })
  /** Nothing where the database is away: nobody knows then whether it still may go. */
  async function take(due: Due) {
    try {
      return (await askAgain(needs.db, due)) ? await compose(needs, due) : await ahead.take(due)
    } catch (error) {
      if (isPassing(error)) return undefined
      throw error
    }
  }
  return { start: ahead.start, take }
}

/** Not more than the upstream takes long before the lease ends. */
async function claimLimit({ pace, leaseSeconds }: LaneNeeds): Promise<number> {
  const rate = pace ? await pace.perSecond() : null
  return rate === null ? batch : Math.min(batch, Math.max(1, Math.floor((rate * leaseSeconds) / 8)))
}

// A turn of one webhook: what is due for it is sent, several at a time, in the order of each message.
import { type Call, call, type Outcome, triedOf } from './call.ts'
import type { Feed } from './feed.ts'
import { deliveryId, payloadOf, type Told } from './payload.ts'
import type { PutOff, QueuedRow, Tried } from './queue-queries.ts'

/** What came of it. */
export type Sent = {
  outcomes: Outcome[]
  dropped: QueuedRow[]
  /** What waits for the next try of another of its message. */
  putOff: PutOff[]
}

export type Turn = Call & {
  told: Told
  /** The last call before this turn failed: one at a time asks whether that is over. */
  isFailing: boolean
  /** No further call is begun. */
  isOver: () => boolean
  /** The process ends: a call that was cut off says nothing about the receiver. */
  isCutOff: () => boolean
  record: (tried: Tried[]) => Promise<void>
}

const atOnce = 32

export async function sendEach(turn: Turn, feed: Feed, recorder: Recorder): Promise<Sent> {
  const sent: Sent = { outcomes: [], dropped: [], putOff: [] }
  const held: { one: QueuedRow; dueAt: Date }[] = []
  let isFailing = turn.isFailing
  let isRefused = false

  /** What follows it in its message waits for it once; where it fails again, the rest is told without it. */
  async function sendNext(one: QueuedRow): Promise<void> {
    const payload = payloadOf(turn.told, one)
    if (!payload) sent.dropped.push(one)
    const dueAt = payload && (await tryOnce(one, JSON.stringify(payload)))
    if (dueAt && one.attempts === 0) held.push({ one, dueAt })
    else feed.done(one)
  }

  /** Gives when to try again. */
  async function tryOnce(one: QueuedRow, body: string): Promise<Date | null> {
    const outcome = await call(turn, deliveryId(one.id), body)
    if (!outcome.isTaken && turn.isCutOff()) return null
    sent.outcomes.push(outcome)
    const tried = triedOf(turn, one, outcome)
    recorder.note(tried)
    if (outcome.isTaken) return null
    feed.close()
    isFailing = true
    isRefused ||= isLeftAlone(outcome)
    return tried.dueAt
  }

  async function work(_: unknown, number: number): Promise<void> {
    const goesOn = () => !turn.isOver() && !isRefused && (number === 0 || !isFailing)
    while (goesOn()) {
      const one = await feed.next()
      if (!one || !goesOn()) return
      await sendNext(one)
    }
  }

  await Promise.all(Array.from({ length: turn.isFailing ? 1 : atOnce }, work))
  await feed.end()
  sent.putOff = held.flatMap(({ one, dueAt }) => feed.behind(one).map((row) => ({ ...row, dueAt })))
  return sent
}

const recordedAtOnce = 50
const recordedAfterMs = 20

export type Recorder = {
  note(tried: Tried): void
  /** Ends when all is written. */
  end(): Promise<void>
}

/** Calls go on while what came of others is written, some at a time. */
export function openRecorder({ record }: Pick<Turn, 'record'>): Recorder {
  const writings = new Set<Promise<void>>()
  let noted: Tried[] = []
  let timer: NodeJS.Timeout | undefined

  function write(): void {
    clearTimeout(timer)
    timer = undefined
    if (noted.length === 0) return
    const writing = record(noted)
    noted = []
    writings.add(writing)
    // One that failed is heard at the end.
    writing.then(
      () => writings.delete(writing),
      () => {},
    )
  }

  return {
    note(tried: Tried): void {
      noted.push(tried)
      if (noted.length >= recordedAtOnce) write()
      else timer ??= setTimeout(write, recordedAfterMs)
    },
    async end(): Promise<void> {
      write()
      await Promise.all(writings)
    },
  }
}

/** It is gone, or asks for a pause: calling again at once is of no use. */
const isLeftAlone = ({ statusCode, askedMs }: Outcome) => statusCode === 410 || askedMs > 0

/** Due at the same time, so that they stay together: of a changed webhook some may have been tried more often. */
function dueTogether(tried: Tried[]): Tried[] {
  const [first] = tried.flatMap(({ dueAt }) => dueAt ?? []).sort((a, b) => a.getTime() - b.getTime())
  return tried.map((one) => ({ ...one, dueAt: one.dueAt && (first ?? null) }))
}

/** One call for all, known by their batch. */
export async function sendTogether(turn: Turn, queued: QueuedRow[]): Promise<Sent> {
  const payloads = queued.map((one) => payloadOf(turn.told, one))
  const there = queued.filter((_, i) => payloads[i])
  const dropped = queued.filter((_, i) => !payloads[i])
  const batchId = there[0]?.batch_id
  if (!batchId) return { outcomes: [], dropped, putOff: [] }
  const body = JSON.stringify(payloads.filter((payload) => payload !== undefined))
  // What was said about all of them is kept with none: it may name any of the others.
  const outcome = { ...(await call(turn, deliveryId(batchId), body)), answer: null }
  if (!outcome.isTaken && turn.isCutOff()) return { outcomes: [], dropped, putOff: [] }
  const tried = there.map((one) => triedOf(turn, one, outcome))
  await turn.record(dueTogether(tried))
  return { outcomes: [outcome], dropped, putOff: [] }
}

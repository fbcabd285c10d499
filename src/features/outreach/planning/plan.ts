// Who is written to next, when, and from which mailbox. A pure function: mailboxes go through their moments in the
// order of time, and each takes the step that is due, follow-ups before first messages. A first message does not take a
// place of the day that a follow-up due later that day will need, in whichever sequence.
import { limitOn, type Ramp } from '../mailboxes/ramp.ts'
import { longestGapMs, meanGapMs, nextUtcDay, slotsOf, soonMs, startOfUtcDay } from './slots.ts'
import { openMs, type Schedule, utcDay, type Window, windowsBetween } from './windows.ts'

export type PlanMailbox = Ramp & {
  id: string
  /** Sent or planned, by UTC day. */
  used: Map<string, number>
  taken: Set<number>
  /** Its last message, sent or planned. */
  lastAt: number
  /** All that came to it is known: while it is not so, follow-ups wait, with their places kept. */
  isHeard: boolean
}

export type PlanSequence = {
  id: string
  schedule: Schedule
  mailboxIds: string[]
  dailyLimit: number | null
  /** Sent or planned, by day of its zone. */
  used: Map<string, number>
}

export type Waiting = { sequenceId: string; prospectId: string; step: number; dueAt: number }
export type FollowUp = Waiting & { mailboxId: string }

export type PlanInput = {
  now: number
  until: number
  mailboxes: PlanMailbox[]
  sequences: PlanSequence[]
  /** Each kind by the time it is due. */
  followUps: FollowUp[]
  firsts: Waiting[]
}

export type Planned = Waiting & { mailboxId: string; at: number }

export function planSends(input: PlanInput): Planned[] {
  const state = openState(input)
  const clocks = input.mailboxes.map((mailbox) => clockOf(mailbox, state, input)).filter((one) => one.next())
  const planned: Planned[] = []
  while (clocks.length > 0) {
    const clock = earliest(clocks)
    const taken = take(state, clock)
    if (taken) planned.push(taken)
    if (!clock.next()) clocks.splice(clocks.indexOf(clock), 1)
  }
  return planned
}

type Queue<T> = { items: T[]; head: number }
type Running = PlanSequence & {
  windows: Window[]
  firsts: Queue<Waiting>
  followUps: Map<string, Queue<FollowUp>>
}
type State = { byMailbox: Map<string, Running[]> }

function openState({ now, until, sequences, followUps, firsts }: PlanInput): State {
  const running = new Map<string, Running>()
  const byMailbox = new Map<string, Running[]>()
  for (const sequence of sequences) {
    // To the end of the last day: what opens later needs places of it.
    const windows = windowsBetween(sequence.schedule, now, nextUtcDay(until))
    const one = { ...sequence, windows, firsts: queue<Waiting>(), followUps: new Map() }
    running.set(sequence.id, one)
  }
  for (const one of firsts) running.get(one.sequenceId)?.firsts.items.push(one)
  for (const one of followUps) {
    const sequence = running.get(one.sequenceId)
    if (!sequence) continue
    const waiting = sequence.followUps.get(one.mailboxId) ?? queue<FollowUp>()
    waiting.items.push(one)
    sequence.followUps.set(one.mailboxId, waiting)
  }
  // A thread stays with its mailbox, also when new ones go elsewhere.
  for (const sequence of running.values())
    for (const id of new Set([...sequence.mailboxIds, ...sequence.followUps.keys()]))
      byMailbox.set(id, [...(byMailbox.get(id) ?? []), sequence])
  return { byMailbox }
}

const queue = <T>(): Queue<T> => ({ items: [], head: 0 })

/** A mailbox going through its moments; `next` is false when there is none before the horizon. */
type Clock = { mailbox: PlanMailbox; openMs: number; at: number; next(): boolean }

function clockOf(mailbox: PlanMailbox, { byMailbox }: State, { now, until }: PlanInput): Clock {
  const sequences = byMailbox.get(mailbox.id) ?? []
  const open = Math.max(0, ...sequences.map(({ schedule }) => openMs(schedule)))
  const isOpenLong = sequences.some(({ windows }) =>
    windows.some(({ opens, closes }) => opens + longestGapMs <= now && now < closes),
  )
  const isRested = isOpenLong && mailbox.lastAt + longestGapMs <= now
  const moments = momentsOf(mailbox, open, { now, until, isRested })
  const hasWork = () =>
    sequences.some(
      (one) =>
        (one.mailboxIds.includes(mailbox.id) && hasMore(one.firsts)) ||
        hasMore(one.followUps.get(mailbox.id) ?? queue()),
    )
  const clock: Clock = {
    mailbox,
    openMs: open,
    at: 0,
    next() {
      const { value, done } = moments.next()
      if (done || !hasWork()) return false
      clock.at = value
      return true
    },
  }
  return clock
}

type Span = { now: number; until: number; isRested: boolean }

/**
 * Those of its days; and one soon for a mailbox that had nothing to do for longer than any gap, while others of its
 * moments went by: who starts a sequence in the midst of the day need not wait for the next.
 */
function* momentsOf(
  mailbox: PlanMailbox,
  open: number,
  { now, until, isRested }: Span,
): Generator<number, undefined> {
  const soon = now + soonMs(mailbox.id)
  const today = limitOn(mailbox, now)
  const restMs = shortestGapMs(today, open)
  // What left at no moment of the grid, soon after a rest or late, may have the next moment right behind it. A clock
  // that was ahead and is put right keeps nobody.
  const isFromAhead = mailbox.lastAt > now + longestGapMs
  let after = isFromAhead ? now : Math.max(now, mailbox.lastAt + restMs)
  if (isRested && soon < until && open > 0 && (mailbox.used.get(utcDay(soon)) ?? 0) < today) {
    yield soon
    after = soon + restMs
  }
  for (let day = startOfUtcDay(now); day < until && open > 0; day = nextUtcDay(day)) {
    const cap = limitOn(mailbox, day)
    const name = utcDay(day)
    for (const at of slotsOf(mailbox.id, day, meanGapMs(cap, open))) {
      if (at >= until) return
      if ((mailbox.used.get(name) ?? 0) >= cap) break
      if (at > after && !mailbox.taken.has(at)) yield at
    }
  }
}

// A message leaves some seconds after its moment; the moment after it must not fall out for that.
const lateMs = 60_000

/** Of the messages of a mailbox: half of the mean, as between its moments, or a minute less. */
const shortestGapMs = (cap: number, open: number) => Math.max(0, meanGapMs(cap, open) / 2 - lateMs)

const hasMore = ({ items, head }: Queue<unknown>) => head < items.length

function earliest(clocks: Clock[]): Clock {
  return clocks.reduce((first, one) => (one.at < first.at ? one : first))
}

type Choice = { sequence: Running; window: Window; from: Queue<Waiting>; waiting: Waiting }

function take({ byMailbox }: State, clock: Clock): Planned | undefined {
  const { mailbox, at } = clock
  const sequences = byMailbox.get(mailbox.id) ?? []
  const open = sequences.flatMap((sequence) => {
    const window = sequence.windows.find(({ opens, closes }) => opens <= at && at < closes)
    return window && roomOf(sequence, window) > 0 ? [{ sequence, window }] : []
  })
  const chosen =
    firstDue(open.flatMap((one) => followUpOf(one, mailbox, at))) ??
    firstDue(roomFor(clock, sequences) > 0 ? open.flatMap((one) => firstOf(one, mailbox, at)) : [])
  if (!chosen) return undefined
  chosen.from.head += 1
  mailbox.first_day ??= utcDay(at)
  add(mailbox.used, utcDay(at))
  add(chosen.sequence.used, chosen.window.day)
  return { ...chosen.waiting, mailboxId: mailbox.id, at }
}

type Open = { sequence: Running; window: Window }

const add = (used: Map<string, number>, day: string) => used.set(day, (used.get(day) ?? 0) + 1)

function roomOf({ dailyLimit, used }: Running, { day }: Window): number {
  return dailyLimit === null ? Number.POSITIVE_INFINITY : dailyLimit - (used.get(day) ?? 0)
}

function followUpOf({ sequence, window }: Open, { id, isHeard }: PlanMailbox, at: number): Choice[] {
  if (!isHeard) return []
  const from = sequence.followUps.get(id)
  const waiting = from?.items[from.head]
  return from && waiting && waiting.dueAt <= at ? [{ sequence, window, from, waiting }] : []
}

function firstOf({ sequence, window }: Open, { id }: PlanMailbox, at: number): Choice[] {
  const from = sequence.firsts
  const waiting = from.items[from.head]
  if (!waiting || waiting.dueAt > at || !sequence.mailboxIds.includes(id)) return []
  return hasRoomForFirst(sequence, window) ? [{ sequence, window, from, waiting }] : []
}

function hasRoomForFirst(sequence: Running, window: Window): boolean {
  if (sequence.dailyLimit === null) return true
  const reserved = sum([...sequence.followUps.values()].map((one) => dueBefore(one, window.closes)))
  return roomOf(sequence, window) > reserved
}

/** What the mailbox may still send that day, without what follow-ups will need before it ends. */
function roomFor(clock: Clock, sequences: Running[]): number {
  const { mailbox, at } = clock
  const reserved = sum(sequences.map((one) => neededBy(one, clock)))
  return limitOn(mailbox, at) - (mailbox.used.get(utcDay(at)) ?? 0) - reserved
}

/** How many follow-ups of the sequence will leave the mailbox that day: its window may be open twice, or later. */
function neededBy(sequence: Running, { mailbox, openMs, at }: Clock): number {
  const waiting = sequence.followUps.get(mailbox.id)
  if (!waiting) return 0
  const [dayEnd, gapMs] = [nextUtcDay(at), meanGapMs(limitOn(mailbox, at), openMs)]
  return sequence.windows.reduce((needed, window) => {
    const [from, to] = [Math.max(at, window.opens), Math.min(dayEnd, window.closes)]
    if (from >= to) return needed
    // No more than have a moment before it closes: a short one late in the day does not keep the whole day empty.
    const moments = Math.ceil((to - from) / gapMs) + 1
    const room = Math.max(0, roomOf(sequence, window))
    return needed + Math.min(dueBefore(waiting, to) - needed, moments, room)
  }, 0)
}

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0)

function dueBefore({ items, head }: Queue<Waiting>, end: number): number {
  let [low, high] = [head, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((items[middle]?.dueAt ?? end) < end) low = middle + 1
    else high = middle
  }
  return low - head
}

function firstDue(choices: Choice[]): Choice | undefined {
  return choices.reduce<Choice | undefined>((best, one) => {
    if (!best || one.waiting.dueAt < best.waiting.dueAt) return one
    const isSame = one.waiting.dueAt === best.waiting.dueAt
    return isSame && BigInt(one.sequence.id) < BigInt(best.sequence.id) ? one : best
  }, undefined)
}

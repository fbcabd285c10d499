import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitOn } from '../mailboxes/ramp.ts'
import {
  type FollowUp,
  type PlanInput,
  type PlanMailbox,
  type Planned,
  type PlanSequence,
  planSends,
} from './plan.ts'
import { meanGapMs, slotsOf } from './slots.ts'
import { isOpen } from './windows.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const paris = { timezone: 'Europe/Paris', days: [1, 2, 3, 4, 5], from: '09:00', to: '18:00' }
const monday = Date.parse('2026-11-16T07:00:00Z')

const mailbox = (id: string, daily_limit = 30): PlanMailbox => ({
  id,
  daily_limit,
  ramp_from: null,
  first_day: null,
  used: new Map(),
  taken: new Set(),
  lastAt: 0,
  isHeard: true,
})

const sequence = (id: string, mailboxIds: string[], more: Partial<PlanSequence> = {}): PlanSequence => ({
  id,
  schedule: paris,
  mailboxIds,
  dailyLimit: null,
  used: new Map(),
  ...more,
})

const firsts = (count: number, sequenceId = '1') =>
  Array.from({ length: count }, (_, n) => ({
    sequenceId,
    prospectId: String(n + 1),
    step: 0,
    dueAt: monday - day,
  }))

const followUp = (prospectId: string, mailboxId: string, dueAt: number): FollowUp => ({
  sequenceId: '1',
  prospectId,
  mailboxId,
  step: 1,
  dueAt,
})

const input = (more: Partial<PlanInput>): PlanInput => ({
  now: monday,
  until: monday + 7 * day,
  mailboxes: [],
  sequences: [],
  followUps: [],
  firsts: [],
  ...more,
})

const iso = (ms: number) => new Date(ms).toISOString()

test('a mailbox that has rested writes soon, then at its moments; not after a message, nor at opening', () => {
  const noon = Date.parse('2026-11-16T11:00:00Z')
  const planAt = (now: number, lastAt: number) =>
    planSends(
      input({
        now,
        until: now + 2 * hour,
        mailboxes: [{ ...mailbox('1'), lastAt }],
        sequences: [sequence('1', ['1'])],
        firsts: firsts(20),
      }),
    ).map(({ at }) => at - now)
  const [first = 0, second = 0, third = 0] = planAt(noon, noon - hour)
  assert.ok(first >= 2_000 && first <= 20_000, `${first}`)
  assert.ok(
    second - first >= 5 * minute && third - second >= 5 * minute && third < 40 * minute,
    `${second} ${third}`,
  )
  const grid = planAt(noon, noon - 10 * minute)
  assert.ok(grid.includes(second) && grid.includes(third) && !grid.includes(first))
  const opening = Date.parse('2026-11-16T08:00:05Z')
  assert.ok((planAt(opening, 0)[0] ?? 0) !== first)
})

test('the next plan goes on as the one before it foresaw, not right behind what was sent soon', () => {
  for (let now = Date.parse('2026-11-16T11:00:00Z'), n = 0; n < 60; n++, now += minute) {
    const planAt = (at: number, lastAt: number) =>
      planSends(
        input({
          now: at,
          until: at + 2 * hour,
          mailboxes: [{ ...mailbox('1'), lastAt }],
          sequences: [sequence('1', ['1'])],
          firsts: firsts(20),
        }),
      )
    const [soon, second] = planAt(now, now - hour).map(({ at }) => at)
    // A quarter of a minute later, and it left some seconds late.
    const [next] = planAt(now + 15_000, (soon ?? 0) + 3_000)
    assert.ok((next?.at ?? 0) - (soon ?? 0) >= 4 * minute, `${iso(soon ?? 0)} ${iso(next?.at ?? 0)}`)
    assert.equal(next?.at, second)
  }
  const ahead = { ...mailbox('1'), lastAt: monday + 30 * day }
  const all = { mailboxes: [ahead], sequences: [sequence('1', ['1'])], firsts: firsts(20) }
  assert.equal(planSends(input(all)).length, 20, 'after a clock that was ahead')
})

test('a new mailbox grows from ten a day to its limit within three weeks of its first message', () => {
  const connected = new Date('2026-10-11T15:00:00Z')
  const ramp = { daily_limit: 50, ramp_from: connected, first_day: '2026-11-01' }
  const on = (n: number) => limitOn(ramp, Date.parse('2026-11-01T00:00:00Z') + n * day)
  assert.deepEqual([on(0), on(1), on(11), on(21), on(100)], [10, 11, 30, 50, 50])
  const later = Date.parse('2026-11-20T09:00:00Z')
  assert.equal(limitOn({ ...ramp, daily_limit: 5 }, 0), 5)
  assert.equal(limitOn({ ...ramp, ramp_from: null, first_day: null }, 0), 50)
  assert.equal(limitOn({ ...ramp, first_day: null }, later), 10)
})

test('moments are the same each time, 5 to 15 minutes apart, closer where the window asks for it', () => {
  const start = Date.parse('2026-11-16T00:00:00Z')
  const moments = [...slotsOf('7', start, meanGapMs(30, 9 * hour))]
  assert.deepEqual(moments, [...slotsOf('7', start, meanGapMs(30, 9 * hour))])
  assert.notDeepEqual(moments, [...slotsOf('8', start, meanGapMs(30, 9 * hour))])
  const gaps = moments.slice(1).map((at, i) => at - (moments[i] ?? 0))
  assert.ok(gaps.every((gap) => gap >= 5 * minute && gap <= 15 * minute))
  assert.ok(moments.every((at) => at >= start && at < start + day))
  assert.ok(meanGapMs(200, 9 * hour) < 3 * minute)
})

test('each day has as many as the mailbox may send, inside the window, in the order of enrolment', () => {
  const planned = planSends(
    input({ mailboxes: [mailbox('1', 10)], sequences: [sequence('1', ['1'])], firsts: firsts(45) }),
  )
  assert.deepEqual(
    planned.map(({ prospectId }) => Number(prospectId)),
    Array.from({ length: 45 }, (_, n) => n + 1),
  )
  const days = planned.map(({ at }) => iso(at).slice(0, 10))
  const perDay = [...new Set(days)].map((name) => [name, days.filter((one) => one === name).length])
  assert.deepEqual(
    perDay,
    [16, 17, 18, 19, 20].map((n) => [`2026-11-${n}`, n === 20 ? 5 : 10]),
  )
  assert.ok(planned.every(({ at }) => isOpen(paris, new Date(at))))
})

test('mailboxes take turns, and a limit of the sequence holds for all of them', () => {
  const mailboxes = [mailbox('1'), mailbox('2'), mailbox('3')]
  const planned = planSends(
    input({
      mailboxes,
      sequences: [sequence('1', ['1', '2', '3'], { dailyLimit: 15 })],
      firsts: firsts(200),
      until: monday + day,
    }),
  )
  assert.equal(planned.length, 15)
  const counts = mailboxes.map(({ id }) => planned.filter(({ mailboxId }) => mailboxId === id).length)
  assert.ok(
    counts.every((count) => count >= 3),
    String(counts),
  )
})

test('follow-ups go before first messages, and keep their place of the day until they are due', () => {
  const due = Date.parse('2026-11-16T12:00:00Z')
  const followUps = [followUp('901', '1', monday - day), followUp('902', '1', due), followUp('903', '2', due)]
  const planned = planSends(
    input({
      mailboxes: [mailbox('1', 5)],
      sequences: [sequence('1', ['1'])],
      firsts: firsts(50),
      followUps,
      until: monday + day,
    }),
  )
  assert.equal(planned.length, 5)
  assert.equal(planned[0]?.prospectId, '901')
  const later = planned.find(({ prospectId }) => prospectId === '902')
  assert.ok(later && later.at >= due)
  // Mailbox 2 is not there: its thread waits for it.
  assert.ok(!planned.some(({ prospectId }) => prospectId === '903'))
})

const allDays = [1, 2, 3, 4, 5, 6, 7]

test('follow-ups keep their places of a day that begins within a window, or before theirs opens', () => {
  const angeles = { ...paris, timezone: 'America/Los_Angeles', days: allDays }
  const late = { ...paris, days: allDays, from: '15:00' }
  // Tuesday in UTC, Monday afternoon there.
  const evening = Date.parse('2026-11-17T00:05:00Z')
  const due = Date.parse('2026-11-17T18:30:00Z')
  const morning = Date.parse('2026-11-17T08:00:00Z')
  const waiting = (at: number) => ['901', '902', '903'].map((id) => followUp(id, '1', at))
  for (const aheadMs of [5 * minute, day]) {
    const [across] = planningOn(evening, aheadMs, {
      sequences: [sequence('1', ['1'], { schedule: angeles })],
      followUps: waiting(due),
    })
    const [others] = planningOn(morning, aheadMs, {
      sequences: [sequence('1', ['1'], { schedule: late }), sequence('2', ['1'])],
      firsts: firsts(50, '2'),
      followUps: waiting(morning + 7 * hour),
    })
    for (const sent of [across, others])
      assert.deepEqual(
        [sent?.length, sent?.filter(({ step }) => step === 1).length],
        [10, 3],
        `${aheadMs / minute} minutes ahead`,
      )
  }
})

/** What leaves by UTC day when it is planned again and again, each time so far ahead. */
function planningOn(since: number, aheadMs: number, more: Partial<PlanInput>) {
  const box = mailbox('1', 10)
  let [left, followUps] = [more.firsts ?? firsts(50), more.followUps ?? []]
  const sent: Planned[] = []
  for (let now = since; now < since + day; now += aheadMs) {
    const given = { ...more, now, until: now + aheadMs, mailboxes: [box], firsts: left, followUps }
    const planned = planSends(input(given))
    const isLeft = (one: { prospectId: string }) =>
      !planned.some(({ prospectId }) => prospectId === one.prospectId)
    ;[left, followUps] = [left.filter(isLeft), followUps.filter(isLeft)]
    for (const { at } of planned) Object.assign(box, { lastAt: at, taken: box.taken.add(at) })
    sent.push(...planned)
  }
  const dayOf = (at: number) => iso(at).slice(0, 10)
  return [...new Set(sent.map(({ at }) => dayOf(at)))].map((name) =>
    sent.filter(({ at }) => dayOf(at) === name),
  )
}

test('a short window late in the day does not keep its mailbox from writing all day', () => {
  const late = { ...paris, from: '17:30' }
  const waiting = Array.from({ length: 50 }, (_, n) => followUp(String(900 + n), '1', monday - day))
  const planned = planSends(
    input({
      mailboxes: [mailbox('1', 20)],
      sequences: [sequence('1', ['1'], { schedule: late }), sequence('2', ['1'])],
      firsts: firsts(50, '2'),
      followUps: waiting,
      until: monday + day,
    }),
  )
  const followed = planned.filter(({ step }) => step === 1).length
  assert.ok(followed >= 2 && planned.length - followed >= 12, `${followed} of ${planned.length}`)
})

test('however far it looks, what comes first is the same', () => {
  const all = (until: number) =>
    planSends(
      input({
        mailboxes: [mailbox('1', 12), mailbox('2', 8)],
        sequences: [
          sequence('1', ['1', '2']),
          sequence('2', ['2'], { schedule: { ...paris, from: '13:00' } }),
        ],
        firsts: [...firsts(30), ...firsts(30, '2')],
        followUps: [followUp('901', '1', monday + 6 * hour)],
        until,
      }),
    )
  const week = all(monday + 7 * day)
  for (const ahead of [90 * minute, 5 * hour, 30 * hour]) {
    const near = all(monday + ahead)
    assert.ok(near.length > 0)
    assert.deepEqual(near, week.slice(0, near.length))
  }
})

test('what is planned or sent already takes its moment and its place', () => {
  const one = mailbox('1', 5)
  const [first] = planSends(
    input({ mailboxes: [mailbox('1', 5)], sequences: [sequence('1', ['1'])], firsts: firsts(1) }),
  )
  assert.ok(first)
  one.taken.add(first.at)
  one.used.set('2026-11-16', 4)
  const planned = planSends(
    input({ mailboxes: [one], sequences: [sequence('1', ['1'])], firsts: firsts(9), until: monday + day }),
  )
  assert.deepEqual([planned.length, planned[0]?.at === first.at], [1, false])
})

// When a sequence may write, above all on days on which the clock leaves an hour out or repeats one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DateTime } from 'luxon'
import { dayIn, daysLater, isOpen, type Schedule, windowsBetween } from './windows.ts'

const hour = 3_600_000
const day = 24 * hour
const everyDay = [1, 2, 3, 4, 5, 6, 7]

const paris = { timezone: 'Europe/Paris', days: [1, 2, 3, 4, 5], from: '09:00', to: '18:00' }
const iso = (ms: number) => new Date(ms).toISOString()

/** Days around a change of the clock: forward, and back. */
const changes: [zone: string, days: string[]][] = [
  ['Europe/Berlin', ['2026-03-29', '2026-10-25']],
  ['America/New_York', ['2026-03-08', '2026-11-01']],
  // By half an hour.
  ['Australia/Lord_Howe', ['2026-10-04', '2026-04-05']],
  // At midnight: the day begins at one, or its last hour comes twice.
  ['America/Santiago', ['2026-09-06', '2026-04-05']],
  ['Africa/Cairo', ['2026-04-24', '2026-10-30']],
  ['America/Asuncion', ['2023-10-01', '2023-03-26']],
  ['America/Havana', ['2026-03-08', '2026-11-01']],
  // In the last hour of the day, and for a day as a whole.
  ['America/Nuuk', ['2026-03-28', '2026-10-24']],
  ['America/Scoresbysund', ['2026-03-29', '2026-10-25']],
  ['Pacific/Apia', ['2011-12-29', '2012-04-01']],
  // Two hours at once.
  ['Antarctica/Troll', ['2026-03-29', '2026-10-25']],
  ['Asia/Kathmandu', ['2026-03-29']],
]

const clockOf = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`

/** Windows of all lengths; at all quarters of an hour where clocks are changed. */
function* schedules(timezone: string): Generator<Schedule> {
  for (let from = 0; from < 24 * 60; from += from < 3.5 * 60 || from >= 22 * 60 ? 15 : 120)
    for (const length of [1, 30, 75, 600]) {
      const to = Math.min(from + length, 24 * 60 - 1)
      if (from < to) yield { timezone, days: everyDay, from: clockOf(from), to: clockOf(to) }
    }
}

const shows = (zone: string, at: number) => DateTime.fromMillis(at, { zone }).toFormat('yyyy-MM-dd HH:mm')

type Around = { since: number; until: number; existing: string[] }

/** The days about one, but for the first and the last, which may be cut. */
function around(zone: string, name: string): Around {
  const middle = DateTime.fromISO(`${name}T12:00`, { zone }).toMillis()
  const [since, until] = [middle - 1.5 * day, middle + 1.5 * day]
  const hours = Array.from({ length: 3 * 24 }, (_, n) => shows(zone, since + n * hour).slice(0, 10))
  return { since, until, existing: [...new Set(hours)].slice(1, -1) }
}

/** What is wrong with the windows of these days, in words. */
function wrongWith(schedule: Schedule, { since, until, existing }: Around): string | undefined {
  const windows = windowsBetween(schedule, since, until)
  const days = windows.map((one) => one.day)
  const closed = existing.find((name) => !days.includes(name))
  if (closed !== undefined) return `none on ${closed}`
  if (new Set(days).size !== days.length) return 'a day has two'
  for (const [n, { opens, closes, day: name }] of windows.entries()) {
    const told = `${name} ${new Date(opens).toISOString()} to ${new Date(closes).toISOString()}`
    if (!(opens < closes)) return `inverted or empty: ${told}`
    if (opens < (windows[n - 1]?.closes ?? 0)) return `before the last one is closed: ${told}`
    if (!isOpen(schedule, new Date(opens)) || !isOpen(schedule, new Date(closes - 1)))
      return `planned and then refused: ${told}`
    if (shows(schedule.timezone, opens) < `${name} ${schedule.from}`) return `too early: ${told}`
    const before = shows(schedule.timezone, closes - 1)
    const isSkipped = shows(schedule.timezone, opens) >= `${name} ${schedule.to}`
    if (before >= `${name} ${schedule.to}` && !isSkipped) return `too late: ${told}`
  }
  return undefined
}

test('a window follows the clock of its zone through both changes of the year', () => {
  const everyDay = { ...paris, days: [1, 2, 3, 4, 5, 6, 7] }
  const opens = (from: string, days: number) =>
    windowsBetween(everyDay, Date.parse(from), Date.parse(from) + days * day).map((one) => iso(one.opens))
  assert.deepEqual(opens('2026-03-28T00:00:00Z', 3), [
    '2026-03-28T08:00:00.000Z',
    '2026-03-29T07:00:00.000Z',
    '2026-03-30T07:00:00.000Z',
  ])
  assert.deepEqual(opens('2026-10-24T00:00:00Z', 3), [
    '2026-10-24T07:00:00.000Z',
    '2026-10-25T08:00:00.000Z',
    '2026-10-26T08:00:00.000Z',
  ])
})

test('a window is half open, and closed on other days, by the days of its zone', () => {
  const at = (text: string) => isOpen(paris, new Date(text))
  assert.deepEqual(
    [
      '2026-11-16T07:59:59.999Z',
      '2026-11-16T08:00:00Z',
      '2026-11-16T16:59:59.999Z',
      '2026-11-16T17:00:00Z',
    ].map(at),
    [false, true, true, false],
  )
  assert.equal(at('2026-11-15T10:00:00Z'), false)
  const tokyo = { ...paris, timezone: 'Asia/Tokyo' }
  // Friday evening in Europe is Saturday there; Sunday evening is Monday.
  assert.equal(isOpen(tokyo, new Date('2026-11-21T00:30:00Z')), false)
  assert.equal(isOpen(tokyo, new Date('2026-11-16T00:30:00Z')), true)
  assert.equal(dayIn('Asia/Tokyo', new Date('2026-11-15T20:00:00Z')), '2026-11-16')
})

test('days are counted on the clock of the zone, across its changes', () => {
  const sent = new Date('2026-10-23T08:30:00Z')
  assert.equal(daysLater('Europe/Paris', sent, 3).toISOString(), '2026-10-26T09:30:00.000Z')
  assert.equal(daysLater('UTC', sent, 3).toISOString(), '2026-10-26T08:30:00.000Z')
})

test('no change of the clock leaves a window empty, turns it round or keeps it open too long', () => {
  for (const [zone, days] of changes)
    for (const name of days) {
      const about = around(zone, name)
      for (const schedule of schedules(zone)) {
        const wrong = wrongWith(schedule, about)
        assert.equal(wrong, undefined, `${zone} ${name} ${schedule.from} to ${schedule.to}: ${wrong}`)
      }
    }
})

test('a window that begins or ends in an hour that is left out does so when the clock is put forward', () => {
  const on = (from: string, to: string) => {
    const schedule = { timezone: 'Europe/Berlin', days: [7], from, to }
    const [found] = windowsBetween(
      schedule,
      Date.parse('2026-03-28T12:00:00Z'),
      Date.parse('2026-03-29T22:00:00Z'),
    )
    return [found?.opens, found?.closes].map((at) => new Date(at ?? 0).toISOString().slice(11, 16))
  }
  assert.deepEqual(on('02:30', '03:15'), ['01:00', '01:15'])
  assert.deepEqual(on('01:00', '02:30'), ['00:00', '01:00'])
  // All of it is left out: it is as long as ever, from then on.
  assert.deepEqual(on('02:15', '02:45'), ['01:00', '01:30'])
})

test('an hour that comes twice counts once for a window', () => {
  const schedule = { timezone: 'Europe/Berlin', days: [7], from: '02:15', to: '02:45' }
  const windows = windowsBetween(
    schedule,
    Date.parse('2026-10-24T12:00:00Z'),
    Date.parse('2026-10-25T22:00:00Z'),
  )
  assert.deepEqual(
    windows.map(({ opens, closes }) => [opens, closes].map((at) => new Date(at).toISOString().slice(11, 16))),
    [['00:15', '00:45']],
  )
})

test('a delay of days ends on each of them, whatever its clock does', () => {
  for (const [zone, days] of changes)
    for (const name of days)
      for (let n = 0; n < 96; n++) {
        const at = DateTime.fromISO(`${name}T00:00`, { zone }).toMillis() - 2 * day + n * hour
        const later = daysLater(zone, new Date(at), 1).getTime() - at
        assert.ok(later >= 21 * hour && later <= 49 * hour, `${zone} ${new Date(at).toISOString()} ${later}`)
      }
})

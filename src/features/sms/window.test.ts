import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { holidayOn } from './holidays.ts'
import { windowAt } from './window.ts'

const years = [2025, 2026, 2027, 2028, 2029, 2030, 2031, 2032, 2033, 2034, 2035]
const fixed = ['01-01', '05-01', '05-08', '07-14', '08-15', '11-01', '11-11', '12-25']

// Easter Monday, Ascension Day and Whit Monday, from printed calendars.
const movable: Record<number, string[]> = {
  2025: ['04-21', '05-29', '06-09'],
  2026: ['04-06', '05-14', '05-25'],
  2027: ['03-29', '05-06', '05-17'],
  2028: ['04-17', '05-25', '06-05'],
  2029: ['04-02', '05-10', '05-21'],
  2030: ['04-22', '05-30', '06-10'],
  2031: ['04-14', '05-22', '06-02'],
  2032: ['03-29', '05-06', '05-17'],
  2033: ['04-18', '05-26', '06-06'],
  2034: ['04-10', '05-18', '05-29'],
  2035: ['03-26', '05-03', '05-14'],
}

// Clocks go forward and back on the last Sundays of March and October.
const changes: Record<number, [string, string]> = {
  2025: ['03-30', '10-26'],
  2026: ['03-29', '10-25'],
  2027: ['03-28', '10-31'],
  2028: ['03-26', '10-29'],
  2029: ['03-25', '10-28'],
  2030: ['03-31', '10-27'],
  2031: ['03-30', '10-26'],
  2032: ['03-28', '10-31'],
  2033: ['03-27', '10-30'],
  2034: ['03-26', '10-29'],
  2035: ['03-25', '10-28'],
}

const daysOf = (year: number) =>
  Array.from({ length: 366 }, (_, i) => new Date(Date.UTC(year, 0, 1 + i)).toISOString().slice(0, 10)).filter(
    (day) => day.startsWith(String(year)),
  )

const offsetOf = (day: string) => {
  const [forward, back] = changes[Number(day.slice(0, 4))] ?? ['', '']
  return day.slice(5) >= forward && day.slice(5) < back ? '+02:00' : '+01:00'
}
const paris = (day: string, time: string) => new Date(`${day}T${time}${offsetOf(day)}`)
const isOpen = (at: Date) => windowAt(at).isOpen

describe('public holidays', () => {
  for (const year of years)
    test(`of ${year}, and no others`, () => {
      const expected = [...fixed, ...(movable[year] ?? [])].map((day) => `${year}-${day}`)
      assert.deepEqual(daysOf(year).filter(holidayOn), [...new Set(expected)].sort())
    })

  test('Ascension Day on the first of May is one day', () => {
    assert.deepEqual([holidayOn('2008-05-01'), holidayOn('2008-05-12')], ['Labour Day', 'Whit Monday'])
  })
})

describe('every day of eleven years', () => {
  for (const year of years)
    test(`edges to the second in ${year}`, () => {
      const holidays = new Set([...fixed, ...(movable[year] ?? [])])
      for (const day of daysOf(year)) {
        const isWorking = new Date(day).getUTCDay() !== 0 && !holidays.has(day.slice(5))
        const edges = ['07:59:59.999', '08:00:00.000', '19:59:59.999', '20:00:00.000']
        const open = edges.map((time) => isOpen(paris(day, time)))
        assert.deepEqual(open, [false, isWorking, isWorking, false], day)
      }
    })
})

describe('the clock changes', () => {
  for (const year of years)
    test(`Saturday and Monday around both of ${year} open at the hour of Paris`, () => {
      for (const change of changes[year] ?? []) {
        const at = (days: number, time: string) => {
          const day = new Date(Date.parse(`${year}-${change}`) + days * 86_400_000).toISOString().slice(0, 10)
          return paris(day, time)
        }
        const closed = windowAt(at(-1, '20:00:00'))
        assert.ok(!closed.isOpen)
        // A holiday may follow at once.
        const isHoliday = holidayOn(at(1, '12:00:00').toISOString().slice(0, 10)) !== undefined
        if (!isHoliday) assert.deepEqual(closed.opens, at(1, '08:00:00'))
        const sunday = windowAt(at(0, '12:00:00'))
        assert.ok(!sunday.isOpen && sunday.rule === 'sunday')
      }
    })
})

describe('what a refusal tells', () => {
  const closedAt = (at: string) => {
    const window = windowAt(new Date(at))
    assert.ok(!window.isOpen)
    return [window.rule, window.opens.toISOString()]
  }

  test('the rule and the next opening, over nights, Sundays and holidays', () => {
    assert.deepEqual(closedAt('2026-11-16T06:59:59Z'), ['hours', '2026-11-16T07:00:00.000Z'])
    assert.deepEqual(closedAt('2026-11-14T19:00:00Z'), ['hours', '2026-11-16T07:00:00.000Z'])
    assert.deepEqual(closedAt('2026-11-15T10:00:00Z'), ['sunday', '2026-11-16T07:00:00.000Z'])
    assert.deepEqual(closedAt('2026-07-14T10:00:00Z'), ['public_holiday', '2026-07-15T06:00:00.000Z'])
    // Saturday night before Easter: Sunday and Monday are closed.
    assert.deepEqual(closedAt('2026-04-04T19:00:00Z'), ['hours', '2026-04-07T06:00:00.000Z'])
  })

  test('the day is that of Paris: late on the thirtieth of April in UTC, Labour Day has begun', () => {
    assert.deepEqual(closedAt('2026-04-30T22:30:00Z'), ['public_holiday', '2026-05-02T06:00:00.000Z'])
  })

  test('an open window says how long it stays so', () => {
    assert.deepEqual(windowAt(new Date('2026-11-16T18:59:00.500Z')), { isOpen: true, secondsLeft: 59 })
  })
})

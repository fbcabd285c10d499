import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMoment, readRange, readSince } from './dates.ts'

test('a moment is a day or a time, in UTC where it names no zone', () => {
  const moments: [string, string][] = [
    ['2026-11-15', '2026-11-15T00:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2026-11-15T09:30', '2026-11-15T09:30:00.000Z'],
    ['2026-11-15 09:30:01.5', '2026-11-15T09:30:01.500Z'],
    ['2026-11-15T09:30:00+02:00', '2026-11-15T07:30:00.000Z'],
    ['2026-11-15 09:30:00-0530', '2026-11-15T15:00:00.000Z'],
    ['2026-11-15t09:30:00z', '2026-11-15T09:30:00.000Z'],
  ]
  for (const [text, at] of moments) assert.equal(readMoment(text)?.toISOString(), at, text)
})

test('what the calendar does not have is no moment', () => {
  for (const text of [
    '2026-02-31',
    '2026-02-29',
    '2026-11-31T10:00:00Z',
    '2026-04-31T10:00:00+02:00',
    '2026-00-10',
  ])
    assert.equal(readMoment(text), undefined, text)
  for (const text of [
    '2026-13-01',
    '2026-01-00',
    '2026-01-01T25:00Z',
    '2026-01-01T10:61Z',
    '2026-1-1',
    'soon',
    '',
  ])
    assert.equal(readMoment(text), undefined, text)
  assert.throws(() => readSince('2026-02-31', 'modifiedSince'), /modifiedSince must be a time that exists/)
  assert.throws(
    () => readRange({ startDate: '2026-02-31', endDate: '2026-03-05' }, 90),
    /startDate must be a date/,
  )
})

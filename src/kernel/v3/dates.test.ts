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

test('a range is of whole days where days are named, or the same time twice', () => {
  const ranges: [string, string, string, string][] = [
    ['2026-11-15', '2026-11-15', '2026-11-15T00:00:00.000Z', '2026-11-16T00:00:00.000Z'],
    [
      '2026-11-15T00:00:00Z',
      '2026-11-15T00:00:00.000Z',
      '2026-11-15T00:00:00.000Z',
      '2026-11-16T00:00:00.000Z',
    ],
    ['2026-11-15T00:00:00+02:00', '2026-11-15', '2026-11-14T22:00:00.000Z', '2026-11-16T00:00:00.000Z'],
    ['2026-11-15T09:00:00Z', '2026-11-15T10:30:00Z', '2026-11-15T09:00:00.000Z', '2026-11-15T10:30:00.000Z'],
    // The plus of a zone, not encoded.
    [
      '2026-11-15T09:00:00 02:00',
      '2026-11-15T10:30:00 02:00',
      '2026-11-15T07:00:00.000Z',
      '2026-11-15T08:30:00.000Z',
    ],
  ]
  for (const [startDate, endDate, since, until] of ranges) {
    const range = readRange({ startDate, endDate }, 90)
    assert.deepEqual([range?.since.toISOString(), range?.until.toISOString()], [since, until], startDate)
  }
  const turned = { startDate: '2026-11-15T10:00:00Z', endDate: '2026-11-15T09:59:59Z' }
  assert.throws(() => readRange(turned, 90), /startDate must not be after endDate/)
})

test('dates lie as many days apart as from the first to the last', () => {
  const range = readRange({ startDate: '2026-08-21', endDate: '2026-11-19' }, 90)
  assert.equal(range?.until.toISOString(), '2026-11-20T00:00:00.000Z')
  const times = { startDate: '2026-08-21T10:00:00Z', endDate: '2026-11-19T10:00:00Z' }
  assert.equal(readRange(times, 90)?.until.toISOString(), '2026-11-19T10:00:00.000Z')
  const refused = /The dates must lie at most 90 days apart/
  assert.throws(() => readRange({ startDate: '2026-08-20', endDate: '2026-11-19' }, 90), refused)
  assert.throws(() => readRange({ ...times, endDate: '2026-11-19T10:00:01Z' }, 90), refused)
})

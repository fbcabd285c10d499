import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reachesSoftBounceLimit } from './soft-bounce-limit.ts'

const now = new Date('2026-05-20T12:00:00Z')
const daysAgo = (...days: number[]) => days.map((each) => new Date(now.getTime() - each * 86_400_000))
const reaches = (softBouncesAt: Date[], lastDeliveredAt: Date | null = null) =>
  reachesSoftBounceLimit({ softBouncesAt, lastDeliveredAt, now })

test('five soft bounces on four days within thirty days are the limit', () => {
  assert.equal(reaches(daysAgo(0, 2, 5, 9, 9)), true)
  assert.equal(reaches(daysAgo(0, 2, 5, 9)), false)
})

test('one bad evening is not', () => assert.equal(reaches(daysAgo(1, 1, 1, 1, 1, 2, 3)), false))

test('old bounces no longer count', () => assert.equal(reaches(daysAgo(0, 2, 5, 9, 31)), false))

test('a delivery starts the count anew', () => {
  const [delivery = null] = daysAgo(4)
  assert.equal(reaches(daysAgo(0, 2, 5, 9, 10), delivery), false)
  assert.equal(reaches(daysAgo(0, 1, 2, 3, 3), delivery), true)
})

test('the limit can be set', () => {
  const history = { softBouncesAt: daysAgo(0, 1), lastDeliveredAt: null, now }
  assert.equal(reachesSoftBounceLimit(history, { bounces: 2, days: 2, withinDays: 7 }), true)
})

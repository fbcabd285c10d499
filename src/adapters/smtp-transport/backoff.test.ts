import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBackoff } from './backoff.ts'
import { unanswered } from './outcome.ts'

test('the wait grows from 100 ms to 30 s and is forgotten once all is well', () => {
  let time = 1000
  const backoff = openBackoff(
    () => time,
    () => 1,
  )
  const waits = Array.from({ length: 11 }, () => {
    backoff.failed(time, unanswered('no'))
    const leftMs = backoff.leftMs()
    time += leftMs
    return leftMs
  })
  assert.deepEqual(waits, [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000])
  assert.equal(backoff.leftMs(), 0)
  assert.equal(backoff.isTroubled(), true)
  backoff.worked()
  assert.equal(backoff.isTroubled(), false)
  backoff.failed(time, unanswered('no'))
  assert.equal(backoff.leftMs(), 100)
})

test('attempts made at the same time count once', () => {
  let time = 1000
  const backoff = openBackoff(
    () => time,
    () => 0,
  )
  for (const startedAt of [990, 991, 992]) {
    backoff.failed(startedAt, unanswered(`no ${startedAt}`))
    time += 1
  }
  assert.equal(backoff.leftMs(), 72)
  assert.equal(backoff.said().message, 'no 992')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTurns } from './turns.ts'

test('no more than so many are at work, each has its turn in line, and one that fails ends its own', async () => {
  const inTurn = openTurns(2)
  const [begun, ends]: [number[], (() => void)[]] = [[], []]
  const all = [0, 1, 2, 3, 4].map((n) =>
    inTurn(async () => {
      begun.push(n)
      await new Promise<void>((resolve) => ends.push(resolve))
      if (n === 1) throw new Error('failed')
    }),
  )
  const outcomes = Promise.allSettled(all)
  for (let n = 0; n < 5; n++) {
    assert.equal(begun.length, Math.min(5, n + 2))
    ends[n]?.()
    await new Promise(setImmediate)
  }
  assert.deepEqual(begun, [0, 1, 2, 3, 4])
  const statuses = (await outcomes).map(({ status }) => status)
  assert.deepEqual(statuses, ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
})

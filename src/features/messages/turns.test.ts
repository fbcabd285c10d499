import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTurns } from './turns.ts'

test('turns are full until one leaves, which is told to all that wait', async () => {
  const turns = openTurns(2)
  turns.enter()
  assert.equal(turns.isFull(), false)
  turns.enter()
  assert.equal(turns.isFull(), true)
  const waiting = [turns.freed(), turns.freed()]
  turns.leave()
  await Promise.all(waiting)
  assert.equal(turns.isFull(), false)
  assert.notEqual(turns.freed(), waiting[0])
})

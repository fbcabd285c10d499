import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLanes } from './lanes.ts'

type Item = { account_id: string; n: number }

const items = (account_id: string, count: number): Item[] =>
  Array.from({ length: count }, (_, n) => ({ account_id, n }))

test('an account whose servers never answer keeps no other waiting', async () => {
  const lanes = openLanes({ atOnce: 6, ofAccount: 2 })
  const [done, begun]: [Item[], Item[]] = [[], []]
  let release = () => {}
  const stuck = new Promise<void>((resolve) => {
    release = resolve
  })
  const work = async (item: Item) => {
    begun.push(item)
    if (item.account_id === 'slow') await stuck
    done.push(item)
  }
  await lanes.run([...items('slow', 9), ...items('quick', 9)], work, 50)
  assert.equal(done.filter(({ account_id }) => account_id === 'quick').length, 9)
  assert.equal(begun.filter(({ account_id }) => account_id === 'slow').length, 2)
  assert.deepEqual([lanes.isBusy(), lanes.room()], [true, 4])
  await lanes.run(items('other', 3), work, 50)
  assert.equal(done.filter(({ account_id }) => account_id === 'other').length, 3)
  release()
  await lanes.idle()
  assert.deepEqual([lanes.isBusy(), done.length], [false, 14])
})

test('without an end it waits for all; a failure is told and stops nobody else', async () => {
  const lanes = openLanes({ atOnce: 2, ofAccount: 2 })
  const done: number[] = []
  await lanes.run(items('a', 5), async ({ n }) => void done.push(n))
  assert.deepEqual(done, [0, 1, 2, 3, 4])
  const failing = lanes.run(items('a', 2), async ({ n }) => {
    if (n === 0) throw new Error('down')
    done.push(n)
  })
  await assert.rejects(failing, /down/)
  await lanes.idle()
  assert.equal(done.length, 6)
})

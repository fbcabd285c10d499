import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRoom } from './room.ts'

const most = { ofOne: 10, ofAll: 20 }

test('an account gets no more than its part, and one alone always has room', async () => {
  const room = openRoom(most, 20)
  const give = await room.take({ accountId: 'a', bytes: 8 })
  await assert.rejects(room.take({ accountId: 'a', bytes: 3 }), /no place in time/)
  const small = await room.take({ accountId: 'a', bytes: 2 })
  small()
  give()
  const huge = await room.take({ accountId: 'a', bytes: 100 })
  await assert.rejects(room.take({ accountId: 'b', bytes: 1 }), /no place in time/)
  huge()
  ;(await room.take({ accountId: 'b', bytes: 1 }))()
})

test('what waits comes in as soon as there is room, and not behind one that waits for its own account', async () => {
  const room = openRoom(most)
  const entered: string[] = []
  const take = async (accountId: string, bytes: number) => {
    const release = await room.take({ accountId, bytes })
    entered.push(`${accountId}${bytes}`)
    return release
  }
  const [a, b] = [await take('a', 10), await take('b', 9)]
  const waiting = [take('a', 5), take('c', 6), take('d', 2)]
  b()
  await Promise.all(waiting.slice(1))
  assert.deepEqual(entered, ['a10', 'b9', 'c6', 'd2'])
  a()
  const releases = await Promise.all(waiting)
  assert.equal(entered.at(-1), 'a5')
  for (const release of releases) release()
  await take('e', 10)
  assert.equal(entered.at(-1), 'e10')
})

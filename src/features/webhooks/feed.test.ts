import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { openFeed } from './feed.ts'
import type { QueuedRow } from './queue-queries.ts'

const rowOf = (message: number, id: number) => ({ id: String(id), message_id: `m${message}` }) as QueuedRow
const soon = () => new Promise<void>((resolve) => setImmediate(resolve))
const all = (rows: QueuedRow[], perFetch: number) => ({
  first: rows.slice(0, perFetch),
  more: async (last: QueuedRow) => {
    await soon()
    const from = rows.indexOf(last) + 1
    return rows.slice(from, from + perFetch)
  },
})

test('every event is told once, those of one message in order and never at the same time', async () => {
  const messages = fc.array(fc.nat(20), { maxLength: 500 })
  const sizes = { perFetch: fc.integer({ min: 1, max: 150 }), workers: fc.integer({ min: 1, max: 16 }) }
  await fc.assert(
    fc.asyncProperty(messages, sizes.perFetch, sizes.workers, async (of, perFetch, workers) => {
      const rows = of.map(rowOf)
      const feed = openFeed(all(rows, perFetch))
      const told: QueuedRow[] = []
      const underWay = new Set<string>()
      const work = async () => {
        for (let one = await feed.next(); one; one = await feed.next()) {
          const message = one.message_id as string
          assert.ok(!underWay.has(message))
          underWay.add(message)
          told.push(one)
          if (Number(one.id) % 3 > 0) await soon()
          underWay.delete(message)
          feed.done(one)
        }
      }
      await Promise.all(Array.from({ length: workers }, work))
      await feed.end()
      const inOrder = (some: QueuedRow[]) =>
        some.toSorted((a, b) => Number(a.message_id?.slice(1)) - Number(b.message_id?.slice(1)))
      assert.deepEqual(inOrder(told), inOrder(rows))
    }),
    { numRuns: 50 },
  )
})

test('more is fetched before it runs out, and nothing once it is closed', async () => {
  const rows = Array.from({ length: 2_000 }, (_, i) => rowOf(i, i))
  let fetches = 0
  const { first, more } = all(rows, 400)
  const feed = openFeed({ first, more: (last) => more(last).finally(() => fetches++) })
  await feed.next()
  await feed.end()
  assert.equal(fetches, 0)
  for (let n = 1; n < 150; n++) await feed.next()
  await feed.end()
  assert.equal(fetches, 1)
  feed.close()
  let left = 0
  while (await feed.next()) left++
  assert.deepEqual([left, fetches], [800 - 150, 1])
})

test('what fetching came to is told at the end, when all that was there has been told', async () => {
  const rows = [rowOf(1, 1), rowOf(2, 2)]
  const feed = openFeed({ first: rows, more: () => Promise.reject(new Error('no database')) })
  assert.deepEqual([await feed.next(), await feed.next(), await feed.next()], [...rows, undefined])
  await assert.rejects(feed.end(), /no database/)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gather } from './gather.ts'

/** Work whose batches are seen and finished by the test. */
function steered() {
  const batches: number[][] = []
  const finish: ((error?: Error) => void)[] = []
  const work = (items: number[]) =>
    new Promise<string[]>((resolve, reject) => {
      batches.push(items)
      finish.push((error) => (error ? reject(error) : resolve(items.map((item) => `out ${item}`))))
    })
  return { work, batches, finish: (i: number, error?: Error) => finish[i]?.(error) }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('a request that comes alone goes at once', async () => {
  const { work, batches, finish } = steered()
  const out = gather(work)(1)
  await turn()
  assert.deepEqual(batches, [[1]])
  finish(0)
  assert.equal(await out, 'out 1')
})

test('what one turn brings travels together', async () => {
  const { work, batches, finish } = steered()
  const ask = gather(work)
  const outs = Promise.all([1, 2, 3].map(ask))
  await turn()
  assert.deepEqual(batches, [[1, 2, 3]])
  finish(0)
  assert.deepEqual(await outs, ['out 1', 'out 2', 'out 3'])
})

test('what arrives while a batch is under way forms the next one', async () => {
  const { work, batches, finish } = steered()
  const ask = gather(work)
  const first = ask(1)
  await turn()
  const second = ask(2)
  await turn()
  const third = ask(3)
  await turn()
  assert.deepEqual(batches, [[1]])
  finish(0)
  assert.equal(await first, 'out 1')
  await turn()
  assert.deepEqual(batches, [[1], [2, 3]])
  finish(1)
  assert.deepEqual(await Promise.all([second, third]), ['out 2', 'out 3'])
})

test('a failure reaches all of its batch and nobody else', async () => {
  const { work, finish } = steered()
  const ask = gather(work)
  const failing = [ask(1), ask(2)]
  await turn()
  const after = ask(3)
  finish(0, new Error('planted'))
  for (const one of failing) await assert.rejects(one, /planted/)
  await turn()
  finish(1)
  assert.equal(await after, 'out 3')
})

test('work that throws before it returns a promise fails its batch too', async () => {
  const ask = gather<number, number>(() => {
    throw new Error('at once')
  })
  await assert.rejects(ask(1), /at once/)
  await assert.rejects(ask(2), /at once/)
})

test('no batch is larger than the largest, and none is lost', async () => {
  const sizes: number[] = []
  const ask = gather(
    async (items: number[]) => {
      sizes.push(items.length)
      return items
    },
    { largest: 4 },
  )
  const items = Array.from({ length: 10 }, (_, i) => i)
  assert.deepEqual(await Promise.all(items.map(ask)), items)
  assert.deepEqual(sizes, [4, 4, 2])
})

test('a batch of several is no heavier than the heaviest', async () => {
  const batches: number[][] = []
  const work = async (items: number[]) => {
    batches.push(items)
    return items
  }
  const ask = gather(work, { weigh: (item) => item, heaviest: 10, largest: 3 })
  const items = [50, 5, 5, 1, 11, 1, 1, 1, 1]
  assert.deepEqual(await Promise.all(items.map(ask)), items)
  assert.deepEqual(batches, [[50], [5, 5], [1], [11], [1, 1, 1], [1]])
})

test('another batch starts beside a running one only when enough wait for it', async () => {
  const { work, batches, finish } = steered()
  const ask = gather(work, { underWay: 2, worthAnother: 3 })
  const outs = [ask(1)]
  await turn()
  outs.push(ask(2), ask(3))
  await turn()
  assert.deepEqual(batches, [[1]])
  outs.push(ask(4))
  await turn()
  assert.deepEqual(batches, [[1], [2, 3, 4]])
  finish(0)
  finish(1)
  assert.deepEqual(await Promise.all(outs), ['out 1', 'out 2', 'out 3', 'out 4'])
})

test('a batch waits until there are enough', async () => {
  const { work, batches, finish } = steered()
  const ask = gather(work, { enough: () => 3, waitMs: 60_000 })
  const outs = [ask(1), ask(2)]
  await turn()
  assert.deepEqual(batches, [])
  outs.push(ask(3))
  await turn()
  assert.deepEqual(batches, [[1, 2, 3]])
  finish(0)
  assert.deepEqual(await Promise.all(outs), ['out 1', 'out 2', 'out 3'])
})

test('a batch waits no longer than it may, and not for those that do not come', async () => {
  const late: number[][] = []
  const ask = gather(
    async (items: number[]) => {
      late.push(items)
      return items
    },
    { enough: () => expected, waitMs: 5 },
  )
  let expected = 3
  assert.equal(await ask(1), 1)
  expected = 1
  assert.deepEqual(await Promise.all([ask(2), ask(3)]), [2, 3])
  assert.deepEqual(late, [[1], [2, 3]])
})

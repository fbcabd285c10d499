// Which calls share a transaction.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { makeApp } from '../../test/app.ts'
import { until } from '../../test/until.ts'
import { operation } from '../kernel/operation.ts'
import { closed } from '../kernel/schema.ts'

const megabyte = 1024 * 1024
const batches: number[][] = []
let weighed = 0
let release = () => {}
const released = new Promise<void>((resolve) => {
  release = resolve
})

const storing = operation({
  name: 'act.store',
  http: 'POST /api/v1/test-stores',
  area: 'Account',
  summary: 'Store so much',
  scope: 'email.send',
  effect: 'change',
  body: closed({ megabytes: Type.Integer() }),
  reply: closed({ megabytes: Type.Integer() }),
  weigh: ({ body }) => {
    weighed++
    return body.megabytes * megabyte
  },
}).runTogether(async (_db, calls) => {
  batches.push(calls.map(({ input }) => input.body.megabytes))
  await released
  return calls.map(({ input }) => input.body)
})

const app = await makeApp({ extraOperations: [storing] })
const store = (megabytes: number) => app.call('POST', '/api/v1/test-stores', { body: { megabytes } })

test('calls that store much do not share their transaction with many others', async () => {
  const calls: Promise<{ status: number }>[] = []
  for (const megabytes of [1, 1, 20, 3, 3, 3, 1]) {
    calls.push(store(megabytes))
    // One after the other, so that their order is known.
    await until(async () => weighed === calls.length, 'the call to wait for its turn')
  }
  release()
  assert.deepEqual(
    (await Promise.all(calls)).map(({ status }) => status),
    calls.map(() => 200),
  )
  assert.deepEqual(batches, [[1], [1], [20], [3, 3], [3, 1]])
})

test('a send weighs its texts and files', () => {
  const send = app.operations.find(({ path }) => path === '/api/v1/transactional/send')
  const body = { html: 'x'.repeat(10), text: 'y', attachments: [{ content: 'z'.repeat(100) }] }
  assert.equal(send?.weigh?.({ body } as never), 111)
})

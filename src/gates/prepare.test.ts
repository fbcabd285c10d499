import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { makeApp } from '../../test/app.ts'
import { operation } from '../kernel/operation.ts'
import { idempotencyInProgress, idempotencyKeyReused, invalidParameter } from '../kernel/refusals.ts'
import { closed } from '../kernel/schema.ts'

const steps: string[] = []
let now = new Date()
let during = async () => {}

const preparedAct = operation({
  name: 'act.prepare',
  http: 'POST /v3/test-prepared',
  area: 'Account',
  summary: 'Act on what was prepared',
  scope: 'email.send',
  effect: 'change',
  body: closed({ word: Type.String(), key: Type.Optional(Type.String()) }),
  reply: closed({ word: Type.String(), acts: Type.Integer() }),
  prepare: async (ctx, { body, ...input }) => {
    steps.push(ctx.caller.accountId === app.accountId ? 'prepare' : 'prepare for a stranger')
    await during()
    if (body.word === 'bad') throw invalidParameter({ message: 'not that word' })
    return { ...input, body: { ...body, word: body.word.toUpperCase() } }
  },
  keyInInput: { of: ({ body }) => body.key, rememberMs: 60_000 },
  refusals: [idempotencyInProgress, idempotencyKeyReused],
}).run(async (_ctx, { body }) => {
  steps.push('act')
  return { word: body.word, acts: steps.filter((step) => step === 'act').length }
})

/** The accounts that wait for a server of theirs, and how each gets its answer. */
const fetching = new Map<string, () => void>()

const longAct = operation({
  name: 'act.fetch',
  http: 'POST /v3/test-fetched',
  area: 'Account',
  summary: 'Act on what was fetched',
  scope: 'email.send',
  effect: 'change',
  body: closed({ slow: Type.Boolean(), from: Type.Optional(Type.String()) }),
  reply: closed({ from: Type.String() }),
  isLong: () => true,
  fetch: async ({ caller }, { body, ...input }) => {
    if (body.slow) await new Promise<void>((resolve) => fetching.set(caller.accountId, resolve))
    return { ...input, body: { ...body, from: 'fetched' } }
  },
  prepare: async (_ctx, { body, ...input }) => ({
    ...input,
    body: { ...body, from: `${body.from}, prepared` },
  }),
}).run(async (_ctx, { body }) => ({ from: body.from ?? '' }))

const app = await makeApp({ extraOperations: [preparedAct, longAct], now: () => now })
const call = (body: object) => app.call('POST', '/v3/test-prepared', { body })

test('what is prepared before the transaction is what is acted on', async () => {
  assert.deepEqual((await call({ word: 'a' })).body, { word: 'A', acts: 1 })
  assert.deepEqual(steps, ['prepare', 'act'])
  const refused = await call({ word: 'bad' })
  assert.deepEqual([refused.status, refused.body.message], [400, 'not that word'])
  assert.deepEqual(steps, ['prepare', 'act', 'prepare'])
})

test('a key in the input is remembered as long as the operation says', async () => {
  const first = await call({ word: 'b', key: 'k' })
  const again = await call({ word: 'b', key: 'k' })
  assert.deepEqual([again.body, again.headers.get('idempotency-replayed')], [first.body, 'true'])
  now = new Date(now.getTime() + 61_000)
  assert.equal((await call({ word: 'b', key: 'k' })).body.acts, first.body.acts + 1)
})

test('an answer that is remembered comes again whatever preparing would say now', async () => {
  const first = await call({ word: 'c', key: 'gone' })
  const before = steps.length
  during = async () => {
    throw invalidParameter({ message: 'it is gone' })
  }
  const again = await call({ word: 'c', key: 'gone' })
  const other = await call({ word: 'd', key: 'gone' })
  during = async () => {}
  assert.deepEqual([again.status, again.text], [first.status, first.text])
  assert.deepEqual([other.status, other.body.code], [400, 'idempotency_key_reused'])
  assert.equal(steps.length, before)
})

test('while the first prepares, a second with its key is told so at once', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const entered = new Promise<void>((resolve) => {
    during = async () => {
      resolve()
      await held
    }
  })
  const first = call({ word: 'e', key: 'slow' })
  await entered
  assert.equal((await call({ word: 'e', key: 'slow' })).status, 409)
  during = async () => {}
  release()
  assert.equal((await first).status, 200)
  assert.equal((await call({ word: 'e', key: 'slow' })).headers.get('idempotency-replayed'), 'true')
})

test('a long call that waits for servers of others keeps no other account waiting', async () => {
  const callLong = (key: string, slow: boolean) =>
    app.call('POST', '/v3/test-fetched', { key, body: { slow } })
  const accounts = await Promise.all(Array.from({ length: 4 }, () => app.makeAccount()))
  const slow = accounts.map(({ key }) => callLong(key, true))
  while (fetching.size < accounts.length) await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual((await callLong(app.key, false)).body, { from: 'fetched, prepared' })
  for (const end of fetching.values()) end()
  assert.deepEqual(new Set((await Promise.all(slow)).map(({ status }) => status)), new Set([200]))
})

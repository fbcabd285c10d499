import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { makeApp } from '../../test/app.ts'
import { operation } from '../kernel/operation.ts'
import { invalidParameter } from '../kernel/refusals.ts'
import { closed } from '../kernel/schema.ts'

const steps: string[] = []
let now = new Date()

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
    if (body.word === 'bad') throw invalidParameter({ message: 'not that word' })
    return { ...input, body: { ...body, word: body.word.toUpperCase() } }
  },
  keyInInput: { of: ({ body }) => body.key, rememberMs: 60_000 },
}).run(async (_ctx, { body }) => {
  steps.push('act')
  return { word: body.word, acts: steps.filter((step) => step === 'act').length }
})

const app = await makeApp({ extraOperations: [preparedAct], now: () => now })
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

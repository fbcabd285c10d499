import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../test/app.ts'
import { upsertLimit } from '../features/accounts/account/queries.ts'
import { sql } from '../kernel/sql.ts'
import { turnTaker } from './rate.ts'

const app = await makeApp()

test('a burst gets exactly the limit, however it is batched', async () => {
  const { accountId, key } = await app.makeAccount()
  await upsertLimit(app.pools.db, accountId, 'usage.get', 40)
  const replies = await Promise.all(
    Array.from({ length: 100 }, () => app.call('GET', '/api/v1/usage', { key })),
  )
  assert.equal(replies.filter(({ status }) => status === 200).length, 40)
  const remaining = replies
    .filter(({ status }) => status === 200)
    .map(({ headers }) => Number(headers.get('ratelimit-remaining')))
  assert.deepEqual(
    remaining.sort((a, b) => a - b),
    Array.from({ length: 40 }, (_, i) => i),
  )
})

test('several takers on one database never exceed the limit together', async () => {
  const takers = Array.from({ length: 5 }, () => turnTaker(app.pools.quick))
  const turn = { accountId: app.accountId, operation: 'shared', allowed: 33 }
  const rates = await Promise.all(Array.from({ length: 500 }, (_, i) => takers[i % 5]?.(turn)))
  assert.equal(rates.filter((rate) => rate?.granted).length, 33)
})

test('a great limit, of which busy processes take turns ahead, is not exceeded either', async () => {
  const takers = Array.from({ length: 3 }, () => turnTaker(app.pools.quick))
  const turn = { accountId: app.accountId, operation: 'great', allowed: 20_000 }
  let [granted, refused] = [0, 0]
  const ask = async (loop: number) => {
    for (let i = 0; i < 600; i++) (await takers[loop % 3]?.(turn))?.granted ? granted++ : refused++
  }
  await Promise.all(Array.from({ length: 60 }, (_, loop) => ask(loop)))
  assert.equal(granted + refused, 36_000)
  assert.ok(granted <= 20_000 && granted > 19_700, String(granted))
})

test('the window slides: what is a minute old makes room, what is younger does not', async () => {
  const take = turnTaker(app.pools.quick)
  const turn = { accountId: app.accountId, operation: 'sliding', allowed: 10 }
  for (let i = 0; i < 10; i++) await take(turn)
  assert.equal((await take(turn)).granted, false)
  const age = (seconds: number) =>
    app.pools.db.run(sql`update rate_windows set second = second - ${seconds} where operation = 'sliding'`)
  await age(55)
  const refused = await take(turn)
  assert.equal(refused.granted, false)
  assert.ok(refused.resetSeconds >= 4 && refused.resetSeconds <= 5, String(refused.resetSeconds))
  await age(5)
  assert.equal((await take(turn)).remaining, 9)
})

test('a clock that is set back by more than the window does not keep what was counted before', async () => {
  const take = turnTaker(app.pools.quick)
  const turn = { accountId: app.accountId, operation: 'set back', allowed: 10 }
  for (let i = 0; i < 10; i++) await take(turn)
  const setBack = (seconds: number) =>
    app.pools.db.run(sql`update rate_windows set second = second + ${seconds} where operation = 'set back'`)
  await setBack(50)
  assert.equal((await take(turn)).granted, false)
  await setBack(3_600)
  for (let i = 0; i < 10; i++) assert.equal((await take(turn)).granted, true)
  assert.equal((await take(turn)).granted, false)
})

test('operations and accounts are counted apart', async () => {
  const [one, other] = [await app.makeAccount(), await app.makeAccount()]
  await upsertLimit(app.pools.db, one.accountId, 'usage.get', 1)
  assert.equal((await app.call('GET', '/api/v1/usage', { key: one.key })).status, 200)
  assert.equal((await app.call('GET', '/api/v1/usage', { key: one.key })).status, 429)
  assert.equal((await app.call('GET', '/api/v1/settings', { key: one.key })).status, 200)
  assert.equal((await app.call('GET', '/api/v1/usage', { key: other.key })).status, 200)
})

test('a limit of nothing refuses everything', async () => {
  const rate = await turnTaker(app.pools.quick)({
    accountId: app.accountId,
    operation: 'nothing',
    allowed: 0,
  })
  assert.deepEqual([rate.granted, rate.remaining], [false, 0])
  const { accountId, key } = await app.makeAccount()
  await upsertLimit(app.pools.db, accountId, 'usage.get', 0)
  const { status, body } = await app.call('GET', '/api/v1/usage', { key })
  assert.deepEqual([status, body.error.code, body.error.retryable], [429, 'rate_limited', false])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../test/app.ts'
import { until } from '../../test/until.ts'
import { revokeKey } from '../features/accounts/keys/queries.ts'

const app = await makeApp()

test('both headers carry a key, api-key first', async () => {
  const { key } = await app.makeKey()
  const wrong = 'phk_live_wrong'
  const status = async (headers: Record<string, string>) =>
    (await app.call('GET', '/api/v1/usage', { key: null, headers })).status
  assert.equal(await status({ 'api-key': key }), 200)
  assert.equal(await status({ 'X-Api-Key': key }), 200)
  assert.equal(await status({ 'api-key': key, 'x-api-key': wrong }), 200)
  assert.equal(await status({ 'api-key': wrong, 'x-api-key': key }), 401)
  assert.equal(await status({ authorization: `Bearer ${key}` }), 401)
})

test('an expired key is refused from that moment on', async () => {
  const past = await app.makeKey({ expiresAt: new Date(Date.now() - 1000) })
  const soon = await app.makeKey({ expiresAt: new Date(Date.now() + 60_000) })
  assert.equal((await app.call('GET', '/api/v1/usage', { key: past.key })).status, 401)
  assert.equal((await app.call('GET', '/api/v1/usage', { key: soon.key })).status, 200)
})

test('a revoked key stops working within a few seconds', async () => {
  const { id, key } = await app.makeKey()
  assert.equal((await app.call('GET', '/api/v1/usage', { key })).status, 200)
  await revokeKey(app.pools.db, id)
  const refused = async () => {
    const { status } = await app.call('GET', '/api/v1/usage', { key })
    return status !== 200 && status
  }
  assert.equal(await until(refused, 'the key to be refused', 5_000), 401)
})

test('a key that lacks a scope is told the command that makes one of the same account', async () => {
  const { accountId } = await app.makeAccount()
  const { key } = await app.makeKey({ scopes: ['billing.read'] }, accountId)
  const { error } = (await app.call('GET', '/api/v1/messages', { key })).body
  assert.match(
    error.hint,
    new RegExp(`posthorn key create --account ${accountId} --scope email.read_status$`),
  )
})

test('usage tells the key its own scopes, cap and mode', async () => {
  const { key } = await app.makeKey({
    scopes: ['billing.read'],
    dailyCap: 7,
    senderDomains: ['a.example'],
    mode: 'test',
  })
  const { body } = await app.call('GET', '/api/v1/usage', { key })
  assert.deepEqual(
    [body.key.scopes, body.key.daily_cap, body.key.remaining, body.key.sender_domains, body.key.mode],
    [['billing.read'], 7, 7, ['a.example'], 'test'],
  )
})

test('an address that sends a thousand wrong keys has to wait, but with a key that worked', async () => {
  const own = await makeApp()
  const [gone, unseen] = [await own.makeKey(), await own.makeKey()]
  const ask = async (key: string) => (await own.call('GET', '/api/v1/usage', { key })).status
  assert.deepEqual([await ask(own.key), await ask(gone.key)], [200, 200])
  const statuses = new Map<number, number>()
  for (let batch = 0; batch < 11; batch++) {
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, i) => own.call('GET', '/api/v1/usage', { key: `wrong-${batch}-${i}` })),
    )
    for (const { status } of replies) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  assert.deepEqual([statuses.get(401), statuses.get(429)], [1000, 100])
  assert.deepEqual([await ask(own.key), await ask(unseen.key)], [200, 429])
  await revokeKey(own.pools.db, gone.id)
  await until(async () => (await ask(gone.key)) === 401, 'the end of the key')
  assert.deepEqual([await ask(gone.key), await ask(own.key)], [429, 200])
})

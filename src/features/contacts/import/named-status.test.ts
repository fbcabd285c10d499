import assert from 'node:assert/strict'
import { test } from 'node:test'
import { account, app, imported } from './fixtures/importer.ts'

test('an attribute named STATUS is not whether a contact is written to, wherever it is changed', async () => {
  const one = await account()
  const call = (method: string, path: string, body?: object) =>
    app.call(method, `/v3/contacts${path}`, { key: one.key, body })
  const read = async () => (await call('GET', '/ann@example.com')).body
  assert.equal((await call('POST', '/attributes/normal/STATUS', { type: 'text' })).status, 201)
  assert.equal(
    (await call('POST', '', { email: 'ann@example.com', attributes: { STATUS: 'VIP' } })).status,
    201,
  )
  const attributes = { STATUS: 'unsubscribed' }
  assert.equal((await call('PUT', '/ann@example.com', { attributes })).status, 204)
  const { status, statistics, ...ann } = await read()
  assert.deepEqual([status, statistics, ann.attributes.STATUS], ['subscribed', {}, 'unsubscribed'])
  await imported(one, { fileBody: 'EMAIL;STATUS\nann@example.com;gold' })
  assert.equal((await read()).attributes.STATUS, 'gold')
  assert.equal((await call('PUT', '/ann@example.com', { emailBlacklisted: true })).status, 204)
  const { history } = (await call('GET', '/ann@example.com/history')).body
  const told = history.map((change: Record<string, unknown>) => [change.attribute, change.newValue])
  assert.deepEqual(told.slice(0, 3), [
    ['STATUS', 'unsubscribed'],
    ['attributes.STATUS', 'gold'],
    ['attributes.STATUS', 'unsubscribed'],
  ])
  const found = await call('GET', `?filter=${encodeURIComponent('equals(STATUS,"gold")')}`)
  assert.equal(found.body.count, 1)
})

// Who leaves while their message waits in a worker for its turn at a slow upstream.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { deliverThrough } from './fixtures/engine.ts'
import { slowTransport } from './fixtures/slow-transport.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools

const transport = slowTransport()
const { got } = transport

const people = ['anna', 'bo', 'carl', 'dora', 'emil', 'fritz', 'gone', 'erased', 'last'].map(
  (name) => `${name}@example.org`,
)

test('whoever is suppressed or erased before their turn gets nothing, though a worker had their message', async () => {
  const { key } = app
  const ids = new Map<string, string>()
  for (const to of people) {
    const body = { from: 'shop@example.com', to, subject: 'Hello', text: 'Hi.' }
    ids.set(to, (await app.call('POST', '/api/v1/transactional/send', { key, body })).body.id)
  }
  const stop = deliverThrough({ db, transport })
  await until(async () => got.length >= 2, 'the first to be under way')
  const gone = { key, body: { email: 'gone@example.org' } }
  assert.equal((await app.call('POST', '/api/v1/suppressions', gone)).status, 201)
  const erased = { key, body: { email: 'erased@example.org', confirm: true } }
  assert.equal((await app.call('POST', '/api/v1/contacts/erase', erased)).status, 200)
  await until(async () => got.includes('last@example.org'), 'the last to leave')
  const look = () => app.call('GET', `/api/v1/messages/${ids.get('gone@example.org')}`, { key })
  await until(
    async () => (await look()).body.status === 'suppressed',
    'the suppressed one to have had its turn',
  )
  await stop()
  assert.deepEqual(
    people.filter((email) => !got.includes(email)),
    ['gone@example.org', 'erased@example.org'],
  )
  // What was suppressed on its way counts against nobody's cap.
  const usage = await app.call('GET', '/api/v1/usage', { key })
  const [month, today] = [usage.body.month.sent, usage.body.key.used_today]
  assert.deepEqual([month, today], [people.length - 1, people.length - 1])
})

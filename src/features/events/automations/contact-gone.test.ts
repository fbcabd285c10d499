// What an automation queued, and whose contact changed before it left.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../../test/until.ts'
import { captureTransport } from '../../messages/capture.ts'
import { deliverThrough } from '../../messages/fixtures/engine.ts'
import { onEvent, openRunning, step } from '../fixtures/running.ts'

const { app, api, declare, happened, now, pass } = await openRunning()
const { db } = app.pools

/** What became of the message to each of them, once it left the queue. */
async function delivered(key: string, emails: string[]): Promise<Record<string, string>> {
  const stop = deliverThrough({ db, now, transport: captureTransport(db, now) })
  const found = emails.map((to) =>
    until(async () => {
      const { body } = await api('GET', `/api/v1/messages?to=${to}`, key)
      return body.data[0].status !== 'queued' && [to, body.data[0].status]
    }, `the message to ${to} to leave the queue`),
  )
  const ended = Object.fromEntries(await Promise.all(found))
  await stop()
  return ended
}

const rename = (key: string, from: string, EMAIL: string) =>
  api('PUT', `/v3/contacts/${from}`, key, { attributes: { EMAIL } })

test('a message that waits in the queue does not go to an address that its contact has left', async () => {
  const { key } = await app.makeAccount()
  await declare(key, onEvent('bought', step(0, 'Thanks')))
  const emails = ['moved@example.com', 'deleted@example.com', 'another@example.com', 'stays@example.com']
  for (const email of emails) await happened(key, 'bought', email)
  await pass(1)
  await rename(key, 'moved@example.com', 'elsewhere@example.com')
  await api('DELETE', '/v3/contacts/deleted@example.com', key)
  // Somebody else has the address by now.
  await rename(key, 'another@example.com', 'further@example.com')
  await api('POST', '/v3/contacts', key, { email: 'another@example.com' })
  assert.deepEqual(await delivered(key, emails), {
    'moved@example.com': 'cancelled',
    'deleted@example.com': 'cancelled',
    'another@example.com': 'cancelled',
    'stays@example.com': 'delivered',
  })
  const { body } = await api('GET', '/api/v1/messages?to=moved@example.com', key)
  assert.equal(body.data[0].last_error.code, 'contact_gone')
  // What was cancelled counts against nobody's cap.
  const usage = await api('GET', '/api/v1/usage', key)
  assert.deepEqual([usage.body.month.sent, usage.body.key.used_today], [1, 1])
})

test('the reminders of a cart reach whoever is no contact', async () => {
  const { key } = await app.makeAccount()
  await api('PUT', '/api/v1/settings', key, { default_sender: { email: 'shop@example.com', name: 'Shop' } })
  const cart = { id: 'c1', items: [{ name: 'Lamp' }] }
  const left = await api('POST', '/api/v1/automations/abandoned-cart', key, {
    email: 'guest@example.com',
    cart,
    delay_minutes: 0,
  })
  assert.equal(left.status, 202)
  await pass(1)
  assert.deepEqual(await delivered(key, ['guest@example.com']), { 'guest@example.com': 'delivered' })
})

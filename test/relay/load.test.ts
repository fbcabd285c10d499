import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeRelayApp } from './relay-app.ts'

const app = await makeRelayApp()

test('300 messages over 10 connections are all stored, each once', async () => {
  const mailer = app.mailer(app.key, { pool: true, maxConnections: 10, maxMessages: 1_000 })
  const names = Array.from({ length: 300 }, (_, i) => `many${i}@example.com`)
  const sent = await Promise.all(
    names.map((to) => mailer.sendMail({ from: 'shop@example.com', to, subject: to, text: 'Hi.' })),
  )
  const ids = sent.map(({ response }) => response.replace('250 2.0.0 queued as msg_', ''))
  const rows = await app.stored()
  assert.deepEqual(rows.map(({ recipient }) => recipient).sort(), [...names].sort())
  assert.deepEqual(rows.map(({ id }) => id.replaceAll('-', '')).sort(), ids.sort())
  const { body } = await app.call('GET', '/api/v1/usage')
  assert.deepEqual([body.month.sent, body.key.used_today], [300, 300])
})

test('many messages over the relay leave the limit of sends over HTTP alone', async () => {
  const body = { from: 'shop@example.com', to: 'a@example.com', subject: 'x', text: 'x' }
  assert.equal((await app.call('POST', '/api/v1/transactional/send', { body })).status, 202)
})

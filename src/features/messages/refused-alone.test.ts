import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { type Habits, serve } from '../../adapters/smtp-transport/fixtures/scripted-server.ts'
import { row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { sendingWith } from './fixtures/sending.ts'

test('a message that the upstream alone refuses with 421 is tried by its schedule, and holds nobody up', async (t) => {
  const on: Habits['on'] = (command) =>
    /^RCPT.*bad@/.test(command) ? '421 4.7.0 not that one, try again later' : undefined
  const server = await serve(t, { offers: ['PIPELINING'], on })
  // A minute becomes three seconds, and the pause of an upstream that takes nothing half of one.
  const env = { POSTHORN_TRANSPORT: `${server.url}?tls=off`, POSTHORN_RETRY_FACTOR: '0.05' }
  const app = await makeApp({ deliver: true, env })
  const { send, settled } = sendingWith(app)
  const { body: good } = await send({ to: 'good@example.org' })
  await settled(good.id, ['sent'])
  const { body: bad } = await send({ to: 'bad@example.org' })
  const tried = await until(async () => {
    const { body } = await app.call('GET', `/api/v1/messages/${bad.id}`)
    return body.attempts > 0 && body.last_error !== null && body
  }, 'the try to be counted')
  assert.deepEqual([tried.status, tried.attempts, tried.last_error.smtp_code], ['queued', 1, 421])
  const events = await app.pools.db.many(
    row<{ type: string }>({ type: text }),
    sql`select type from message_events where account_id = ${app.accountId} and type <> 'sent'`,
  )
  assert.deepEqual(events, [{ type: 'deferred' }])
  const { body: other } = await send({ to: 'other@example.org' })
  await settled(other.id, ['sent'])
  const { body: health } = await app.call('GET', '/api/v1/health')
  assert.deepEqual([health.status, health.transport.state], ['ok', 'ok'])
  assert.deepEqual(
    server.received.map(({ to }) => to),
    ['good@example.org', 'other@example.org'],
  )
})

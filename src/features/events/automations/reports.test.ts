import assert from 'node:assert/strict'
import { test } from 'node:test'
import { row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { onEvent, openRunning, step } from '../fixtures/running.ts'

// Reports find messages by their identifiers, which tell the real time.
const { app, api, declare, happened, pass } = await openRunning({ start: Date.now() })
const { db } = app.pools

test('what is told to transactional webhooks is in the reports and in the log too', async () => {
  const { accountId, key } = await app.makeAccount()
  const webhook = { url: 'https://shop.example/hook', events: ['request'] }
  assert.equal((await api('POST', '/v3/webhooks', key, webhook)).status, 201)
  await declare(key, onEvent('a', step(0, 'One')))
  await happened(key, 'a', 'anna@example.com')
  await pass(0)
  const [told] = await db.many(
    row<{ event: string }>({ event: text }),
    sql`select event from webhook_queue where account_id = ${accountId}`,
  )
  assert.equal(told?.event, 'request')
  const read = async (path: string) => (await api('GET', `/v3/smtp/${path}`, key)).body
  assert.equal((await read('statistics/aggregatedReport')).requests, 1)
  assert.equal((await read('statistics/reports?days=1')).reports[0].requests, 1)
  const { events } = await read('statistics/events?email=anna@example.com')
  assert.deepEqual(
    events.map(({ event, subject }: Record<string, string>) => [event, subject]),
    [['requests', 'One']],
  )
  assert.equal((await read('emails?email=anna@example.com')).count, 1)
})

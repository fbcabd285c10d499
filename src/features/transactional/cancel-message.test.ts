import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { newUuid, readId, showId } from '../../kernel/id.ts'
import { sql } from '../../kernel/sql.ts'

const app = await makeApp()
const { db } = app.pools

const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
const message = { from: 'shop@example.com', to: 'anna@example.com', subject: 'Hello', text: 'Hello.' }

async function sent(more: object = {}, key = app.key): Promise<string> {
  const reply = await app.call('POST', '/api/v1/transactional/send', { key, body: { ...message, ...more } })
  assert.equal(reply.status, 202, reply.text)
  return reply.body.id
}

const cancel = (id: string, key = app.key) => app.call('POST', `/api/v1/messages/${id}/cancel`, { key })
const statusOf = async (id: string) => (await app.call('GET', `/api/v1/messages/${id}`)).body.status
const usedToday = async () => (await app.call('GET', '/api/v1/usage')).body.key.used_today

test('a message that waits for its time is taken back, once and again, and counts no more', async () => {
  const before = await usedToday()
  const id = await sent({ scheduled_at })
  assert.equal(await usedToday(), before + 1)
  for (const _turn of [1, 2]) {
    const reply = await cancel(id)
    assert.deepEqual([reply.status, reply.body], [200, { id, status: 'cancelled' }])
    assert.equal(await usedToday(), before)
  }
  assert.equal(await statusOf(id), 'cancelled')
})

test('what does not wait for its time stays, and the refusal says why', async () => {
  const onItsWay = await sent()
  const claimed = await sent({ scheduled_at })
  await db.run(sql`
    -- all accounts: the test made it
    update delivery_queue set attempts = 1 where message_id = ${readId('msg', claimed) ?? ''}`)
  const delivered = await sent({ scheduled_at })
  await put(delivered, sql`status = 'delivered'`)
  const ofCampaign = await sent()
  await put(ofCampaign, sql`campaign_id = 7`)
  for (const [id, words] of [
    [onItsWay, /without scheduled_at/],
    [claimed, /being sent at this moment/],
    [delivered, /is delivered and cannot be cancelled/],
    [ofCampaign, /of campaign 7/],
  ] as const) {
    const before = await statusOf(id)
    const { status, body } = await cancel(id)
    assert.deepEqual([status, body.error.code], [409, 'conflict'])
    assert.match(body.error.message, words)
    assert.equal(await statusOf(id), before)
  }
})

const put = (id: string, set: ReturnType<typeof sql>) =>
  db.run(sql`
    -- all accounts: the test made it
    update messages set ${set} where id = ${readId('msg', id) ?? ''}`)

test('a message of somebody else is not known', async () => {
  const other = await app.makeAccount()
  const id = await sent({ scheduled_at })
  for (const one of [id, showId('msg', newUuid()), 'nonsense'])
    assert.equal((await cancel(one, other.key)).status, 404)
  assert.equal(await statusOf(id), 'queued')
  const reader = await app.makeKey({ scopes: ['email.read_status'] }, app.accountId)
  assert.equal((await cancel(id, reader.key)).status, 403)
})

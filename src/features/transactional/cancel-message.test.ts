import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { newUuid, readId, showId } from '../../kernel/id.ts'
import type { Handover, Outcome } from '../../kernel/ports.ts'
import { sql } from '../../kernel/sql.ts'
import { claimDue } from '../messages/claim-queries.ts'
import { deliverThrough } from '../messages/fixtures/engine.ts'
import { lanes } from '../messages/model.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
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

/** Hands everything that is due to `answer`, until it is stopped. */
function deliver(answer: (handover: Handover) => Promise<Outcome>) {
  const transport = {
    ...{ kind: 'scripted', signs: true, takesMarketing: true, concurrency: 4, send: answer },
    ...{ verify: async () => {}, close: async () => {} },
  }
  return deliverThrough({ db, transport })
}

const taken = { kind: 'accepted', upstreamId: null, response: '250 ok' } as const
const said = { smtpCode: 451, enhancedCode: '4.3.2', message: 'Not now' }

test('one that waits for its turn is taken back and does not leave', async () => {
  const before = await usedToday()
  const id = await sent({ to: 'back@example.com' })
  assert.deepEqual((await cancel(id)).body, { id, status: 'cancelled' })
  assert.equal(await usedToday(), before)
  const last = await sent({ to: 'last@example.com' })
  const asked: string[] = []
  const stop = deliver(async ({ recipient }) => {
    asked.push(recipient)
    return taken
  })
  await until(async () => (await statusOf(last)) === 'sent', 'the next one to leave')
  await stop()
  assert.deepEqual([asked, await statusOf(id)], [['last@example.com'], 'cancelled'])
})

test('one that is held, or waits for its next try, is taken back and tried no more', async () => {
  const before = await usedToday()
  const [held, tried] = [await sent({ to: 'held@example.com' }), await sent({ to: 'tried@example.com' })]
  const stop = deliver(async ({ recipient }) => {
    const retryAfterMs = recipient === 'held@example.com' ? 600_000 : undefined
    return { kind: 'deferred', fault: 'message', retryAfterMs, ...said }
  })
  await until(async () => (await statusOf(held)) === 'held', 'one to be held')
  const found = () => app.call('GET', `/api/v1/messages/${tried}`)
  await until(async () => (await found()).body.last_error !== null, 'the other to be put off')
  await stop()
  for (const id of [held, tried]) {
    assert.deepEqual((await cancel(id)).body, { id, status: 'cancelled' })
    const { status, held_reason } = (await app.call('GET', `/api/v1/messages/${id}`)).body
    assert.deepEqual([status, held_reason], ['cancelled', null])
  }
  assert.equal(await usedToday(), before)
  assert.equal(
    await db.run(sql`select 1 from delivery_queue where due_at < now() + interval '30 minutes'`),
    0,
  )
})

test('whatever the moment, a message is cancelled or claimed and never both', async () => {
  const ids = await Promise.all(Array.from({ length: 60 }, (_, i) => sent({ to: `race${i}@example.com` })))
  const claimed = new Set<string>()
  async function claimAll() {
    for (;;) {
      const some = await claimDue(db, { lane: lanes.transactional, limit: 2, leaseSeconds: 60 })
      if (some.length === 0) return
      for (const { message_id } of some) claimed.add(showId('msg', message_id))
    }
  }
  const cancelling = ids.map((id) => cancel(id))
  await Promise.race(cancelling)
  await claimAll()
  for (const [i, reply] of (await Promise.all(cancelling)).entries()) {
    const id = ids[i] ?? ''
    const isClaimed = claimed.has(id)
    const expected = isClaimed ? [409, 'queued'] : [200, 'cancelled']
    assert.deepEqual([reply.status, await statusOf(id)], expected)
  }
})

test('a claim that is not committed yet is waited for, and wins', async () => {
  const id = await sent({ to: 'claimed@example.com' })
  let cancelling: ReturnType<typeof cancel> | undefined
  await db.transaction(async (tx) => {
    const claim = { lane: lanes.transactional, limit: 10, leaseSeconds: 60 }
    assert.equal((await claimDue(tx, claim)).length, 1)
    cancelling = cancel(id)
    const waits = sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until(async () => (await db.run(waits)) > 0, 'the cancellation to wait')
  })
  const { status, body } = (await cancelling) ?? assert.fail()
  assert.deepEqual([status, body.error.code], [409, 'conflict'])
  assert.match(body.error.hint, /queued or held again, and can be cancelled then/)
  assert.equal(await statusOf(id), 'queued')
})

test('the other namespace cancels what was scheduled and nothing else', async () => {
  const id = await sent({ to: 'other@example.com' })
  const { message_id } = (await app.call('GET', `/api/v1/messages/${id}`)).body
  const reply = await app.call('DELETE', `/v3/smtp/email/${encodeURIComponent(message_id)}`)
  assert.deepEqual([reply.status, await statusOf(id)], [404, 'queued'])
})

test('there too what was scheduled is cancelled while it is held or waits for its next try', async () => {
  const { key } = await app.makeAccount()
  const batchId = newUuid()
  const sender = { email: 'shop@example.com' }
  const letter = { sender, subject: 'Hello', textContent: 'Hello.', batchId }
  // A moment ago is now.
  const scheduledAt = new Date(Date.now() - 1_000).toISOString()
  const to = [[{ email: 'held.batch@example.com' }], [{ email: 'tried.batch@example.com' }]]
  const body = { ...letter, scheduledAt, messageVersions: to.map((one) => ({ to: one })) }
  assert.equal((await app.call('POST', '/v3/smtp/email', { key, body })).status, 202)
  const stop = deliver(async ({ recipient }) => {
    const retryAfterMs = recipient.startsWith('held') ? 600_000 : undefined
    return { kind: 'deferred', fault: 'message', retryAfterMs, ...said }
  })
  const states = async () => (await app.call('GET', '/api/v1/messages', { key })).body.data
  await until(
    async () => (await states()).every((one: { last_error: unknown }) => one.last_error),
    'both tries',
  )
  await stop()
  const state = () => app.call('GET', `/v3/smtp/emailStatus/${batchId}?status=queued`, { key })
  assert.equal((await state()).body.count, 2)
  assert.equal((await app.call('DELETE', `/v3/smtp/email/${batchId}`, { key })).status, 204)
  assert.equal((await state()).body.count, 0)
  const statuses = (await states()).map(({ status }: { status: string }) => status)
  assert.deepEqual(statuses, ['cancelled', 'cancelled'])
  assert.equal((await app.call('GET', '/api/v1/usage', { key })).body.key.used_today, 0)
})

test('what does not wait stays, and the refusal says why', async () => {
  const claimed = await sent({ scheduled_at })
  await db.run(sql`
    -- all accounts: the test made it
    update delivery_queue set attempts = 1 where message_id = ${readId('msg', claimed) ?? ''}`)
  const delivered = await sent({ scheduled_at })
  await put(delivered, sql`status = 'delivered'`)
  const ofCampaign = await sent()
  await put(ofCampaign, sql`campaign_id = 7`)
  for (const [id, words] of [
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

// The worker is killed again and again between an event and its call, and between the call and its record.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openReceiver } from '../../src/features/webhooks/fixtures/receiver.ts'
import { sql } from '../../src/kernel/sql.ts'
import { makeApp } from '../app.ts'
import { query } from '../processes/empty-database.ts'
import { until } from '../until.ts'
import { randomFrom, seed } from './random.ts'
import { kill, startWorker } from './worker.ts'

const count = 1_500
const kills = 3
const env = {
  POSTHORN_SECRET_KEY: randomBytes(32).toString('hex'),
  POSTHORN_WEBHOOK_ALLOW_PRIVATE: 'true',
  POSTHORN_LEASE_SECONDS: '5',
}
const app = await makeApp({ env })

test(`of ${count} events none is lost in ${kills} kills, and each keeps its id`, async (t) => {
  t.diagnostic(`POSTHORN_SEED=${seed}`)
  const random = randomFrom(seed)
  // Slow enough for a kill to meet calls that are under way.
  const receiver = await openReceiver((_got, response) => setTimeout(() => response.writeHead(200).end(), 20))
  const body = { url: receiver.url, events: ['click'] }
  assert.equal((await app.call('POST', '/v3/webhooks', { body })).status, 201)
  await app.pools.db.run(sql`
    with m as (
      insert into messages (id, account_id, key_id, status, source, mode, stream, sender, recipient, subject,
                            message_id, created_at)
      select gen_random_uuid(), ${app.accountId}, gen_random_uuid(), 'sent', 'api', 'live', 'transactional',
             'shop@example.com', 'r' || n || '@example.org', 'Order', '<' || n || '@shop.example>', now()
        from generate_series(1, ${count}::int) n
      returning id, account_id)
    select 1 from m`)
  await app.pools.db.run(sql`
    insert into message_events (id, account_id, message_id, type, at)
    select gen_random_uuid(), account_id, id, 'click', now() from messages where account_id = ${app.accountId}`)

  const reached = () => new Set(receiver.got.map((one) => one.body.email)).size
  for (let turn = 1; turn <= kills; turn++) {
    const worker = await startWorker('webhook-worker.ts', app.databaseUrl, env)
    const from = Math.floor((count * turn) / (kills + 2))
    await until(async () => reached() >= from, `event ${from}`, 60_000)
    await pause(random() * 50)
    await kill(worker)
  }
  const worker = await startWorker('webhook-worker.ts', app.databaseUrl, env)
  await until(async () => reached() === count, 'every event to arrive', 60_000)
  const left = async () => (await query(app.databaseUrl, 'select 1 from webhook_queue limit 1')).length
  await until(async () => (await left()) === 0, 'every call to be recorded')
  await kill(worker)

  const ids = new Map<string, Set<unknown>>()
  for (const { body: told, headers } of receiver.got)
    ids.set(told.email, (ids.get(told.email) ?? new Set()).add(headers['webhook-id']))
  t.diagnostic(`${receiver.got.length - count} calls came twice`)
  assert.ok([...ids.values()].every((of) => of.size === 1))
  assert.equal(new Set([...ids.values()].flatMap((of) => [...of])).size, count)
  assert.ok(receiver.got.length - count <= kills * 200, `${receiver.got.length - count} calls came twice`)
  const [done] = await query(
    app.databaseUrl,
    'select count(*)::int as n, bool_and(is_delivered) as ok from webhook_deliveries',
  )
  assert.deepEqual(done, { n: count, ok: true })
})

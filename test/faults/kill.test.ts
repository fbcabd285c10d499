// The service is killed again and again in the midst of sending: what it accepted arrives all the same.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { call } from '../app.ts'
import { makeEmptyDatabase, query } from '../processes/empty-database.ts'
import { sparePort } from '../spare-port.ts'
import { until } from '../until.ts'
import { randomFrom, seed } from './random.ts'
import { sendAll } from './sender.ts'
import { faultKey, type Process, startService } from './service.ts'
import { openSink } from './sink.ts'
import { makeTally } from './tally.ts'

const count = 5_000
const kills = 6

test(`of ${count} sends none is lost when the process group is killed ${kills} times`, async (t) => {
  t.diagnostic(`POSTHORN_SEED=${seed}`)
  const random = randomFrom(seed)
  const tally = makeTally()
  const sink = await openSink(tally.take)
  after(() => sink.close())
  const databaseUrl = await makeEmptyDatabase()
  const port = await sparePort()
  const place = { port, databaseUrl, sinkPort: sink.port, env: { POSTHORN_LEASE_SECONDS: '6' } }
  let service: Process = await startService(place)
  const { body: capabilities } = await call(`http://127.0.0.1:${port}`, 'GET', '/api/v1/capabilities', {})

  const sending = sendAll({ port, tally, prefix: 'k', count, loops: 32 })
  for (let kill = 1; kill <= kills; kill++) {
    // Somewhere in its share of the messages, and then somewhere in a batch.
    const from = Math.floor((count * (kill - 1 + random())) / (kills + 1))
    await until(async () => tally.reached() > from, `message ${from} to arrive`, 60_000)
    await pause(random() * 50)
    await service.kill()
    service = await startService(place)
  }
  const answers = await sending
  await until(async () => tally.reached() >= count, 'every message to arrive', 60_000)
  const left = async () => (await query(databaseUrl, 'select 1 from delivery_queue limit 1')).length
  await until(async () => (await left()) === 0, 'the queue to be empty', 30_000)

  const bound = capabilities.limits.in_flight_messages
  t.diagnostic(`${tally.duplicates()} duplicates of at most ${kills} × ${bound}; ${[...answers].join(' ')}`)
  assert.deepEqual([tally.accepted(), tally.missing(), tally.twofold()], [count, [], []])
  assert.ok(bound > 0 && tally.duplicates() <= kills * bound, `${tally.duplicates()} duplicates`)
  assert.ok((answers.get(0) ?? 0) > 0, 'no request met a kill')
  const statuses = 'select status, count(*)::int as count from messages group by status'
  assert.deepEqual(await query(databaseUrl, statuses), [{ status: 'sent', count }])
  const events = "select count(*)::int as count from message_events where type = 'sent'"
  assert.deepEqual(await query(databaseUrl, events), [{ count }])
  assert.equal(
    (await call(`http://127.0.0.1:${port}`, 'GET', '/api/v1/usage', { key: faultKey })).status,
    200,
  )
  assert.equal(await service.stop(), 0)
})

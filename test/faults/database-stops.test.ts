// PostgreSQL goes away for ten seconds in the midst of sending: nothing accepted is lost, and all goes on by itself.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { call } from '../app.ts'
import { query } from '../processes/empty-database.ts'
import { sparePort } from '../spare-port.ts'
import { until } from '../until.ts'
import { type Cluster, openCluster } from './cluster.ts'
import { sendAll } from './sender.ts'
import { faultKey, startService } from './service.ts'
import { openSink } from './sink.ts'
import { makeTally } from './tally.ts'

const awayMs = 10_000
const most = 20_000

type Fault = { begin(cluster: Cluster): Promise<void>; end(cluster: Cluster): Promise<void> }

const cluster = await openCluster()
const tally = makeTally()
const sink = await openSink(tally.take)
after(() => sink.close())
const port = await sparePort()
const lease = { POSTHORN_LEASE_SECONDS: '20' }
const service = await startService({ port, databaseUrl: cluster.url, sinkPort: sink.port, env: lease })
const ask = (path: string) => call(`http://127.0.0.1:${port}`, 'GET', path, { key: faultKey })
const bound: number = (await ask('/api/v1/capabilities')).body.limits.in_flight_messages

/** Sends before, during and after the fault; gives the answers that the sends got. */
async function sendThrough(prefix: string, { begin, end }: Fault) {
  const start = { accepted: tally.accepted(), reached: tally.reached() }
  let isOver = false
  const sending = sendAll({ port, tally, prefix, count: most, loops: 16, until: () => isOver })
  await until(async () => tally.reached() > start.reached + 300, 'the first messages', 30_000)
  await begin(cluster)
  const back = pause(awayMs)
  const health = await until(
    async () => {
      const report = await ask('/api/v1/health')
      return report.status === 503 && report
    },
    'the health report to say that the database is away',
    8_000,
  )
  assert.equal(health.body.database.state, 'down')
  await back
  await end(cluster)
  const since = tally.accepted()
  await until(async () => tally.accepted() > since + 300, 'sends to be accepted again', 30_000)
  isOver = true
  const answers = await sending
  await until(async () => tally.missing().length === 0, 'every accepted message to arrive', 60_000)
  return answers
}

async function showNothingLost(duplicatesBefore: number) {
  const left = async () => (await query(cluster.url, 'select 1 from delivery_queue limit 1')).length
  await until(async () => (await left()) === 0, 'the queue to be empty', 40_000)
  const duplicates = tally.duplicates() - duplicatesBefore
  assert.ok(duplicates <= bound, `${duplicates} duplicates, at most ${bound} were promised`)
  assert.deepEqual([tally.missing(), tally.twofold()], [[], []])
  const count = tally.accepted()
  const statuses = 'select status, count(*)::int as count from messages group by status'
  assert.deepEqual(await query(cluster.url, statuses), [{ status: 'sent', count }])
  const events = "select count(*)::int as count from message_events where type = 'sent'"
  assert.deepEqual(await query(cluster.url, events), [{ count }])
  assert.equal((await ask('/readyz')).status, 200)
  return duplicates
}

test('PostgreSQL stands still for ten seconds', async (t) => {
  const answers = await sendThrough('still', { begin: (c) => c.freeze(), end: (c) => c.thaw() })
  const duplicates = await showNothingLost(0)
  t.diagnostic(
    `${tally.accepted()} accepted, ${duplicates} duplicates of ${bound}; ${[...answers].join(' ')}`,
  )
})

test('PostgreSQL is killed and comes back after ten seconds', async (t) => {
  const before = tally.duplicates()
  const answers = await sendThrough('killed', { begin: (c) => c.kill(), end: (c) => c.startAgain() })
  const duplicates = await showNothingLost(before)
  t.diagnostic(
    `${tally.accepted()} accepted, ${duplicates} duplicates of ${bound}; ${[...answers].join(' ')}`,
  )
  assert.ok((answers.get(503) ?? 0) > 0, 'no send was answered with 503')
  assert.deepEqual(
    [...answers.keys()].filter((status) => ![202, 409, 503].includes(status)),
    [],
  )
  assert.equal(await service.stop(), 0)
})

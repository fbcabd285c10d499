import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import type { Db } from '../../kernel/db.ts'
import type { Transport } from '../../kernel/ports.ts'
import { databaseUnavailable } from '../../kernel/refusals.ts'
import { sql } from '../../kernel/sql.ts'
import { deliverThrough } from './fixtures/engine.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools

/** The database of one worker: what it asks for and what it writes can fail apart. */
function openShaky() {
  const away = { reads: false, writes: false }
  const state = { answered: 0 }
  const ask = async <T>(what: keyof typeof away, work: () => Promise<T>): Promise<T> => {
    if (away[what]) throw databaseUnavailable()
    const result = await work()
    state.answered++
    return result
  }
  const shaky: Db = {
    ...db,
    many: (shape, statement) => ask('reads', () => db.many(shape, statement)),
    byKeys: (work) => ask('reads', () => db.byKeys(work)),
    run: (statement) => ask('writes', () => db.run(statement)),
    transaction: (work) => ask('writes', () => db.transaction(work)),
  }
  return { away, state, shaky }
}

function openUpstream(onAsked: () => void): Transport & { asked: string[] } {
  const asked: string[] = []
  return {
    kind: 'scripted',
    signs: true,
    takesMarketing: true,
    concurrency: 4,
    asked,
    send: async ({ recipient }) => {
      asked.push(recipient)
      onAsked()
      return { kind: 'accepted', upstreamId: null, response: '250 ok' }
    },
    verify: async () => {},
    close: async () => {},
  }
}

async function send(to: string): Promise<string> {
  const body = { from: 'shop@example.com', to, subject: 'Hello', text: 'Hi.' }
  const { status, body: sent } = await app.call('POST', '/api/v1/transactional/send', { body })
  assert.equal(status, 202)
  return sent.id
}

const isSent = (id: string) =>
  until(
    async () => (await app.call('GET', `/api/v1/messages/${id}`)).body.status === 'sent',
    `${id} to be sent`,
  )

const leaseIsOver = (id: string) =>
  until(async () => {
    const due = sql`select 1 from delivery_queue where message_id = ${id.slice(4)} and due_at < clock_timestamp()`
    return (await db.run(due)) > 0
  }, 'the lease to be over')

test('a worker does not claim again what it has itself, although the lease is over', async () => {
  const { shaky, away } = openShaky()
  const first = await send('first@example.com')
  const upstream = openUpstream(() => {
    away.writes = true
  })
  const stop = deliverThrough({ db: shaky, transport: upstream, leaseSeconds: 1 })
  await until(async () => upstream.asked.length > 0, 'the hand-over')
  await leaseIsOver(first)
  const second = await send('second@example.com')
  await until(async () => upstream.asked.includes('second@example.com'), 'the next claim')
  away.writes = false
  await Promise.all([first, second].map(isSent))
  await stop()
  assert.deepEqual(upstream.asked, ['first@example.com', 'second@example.com'])
})

test('a message that was taken a moment ago is not claimed again by a clock that leaps', async () => {
  const ids = [await send('leap-1@example.com'), await send('leap-2@example.com')]
  let hasLeapt = false
  const leaping: Db = {
    ...db,
    many: async (shape, statement) => {
      const rows = await db.many(shape, statement)
      if (hasLeapt || rows.length === 0) return rows
      hasLeapt = true
      await db.run(sql`update delivery_queue set due_at = clock_timestamp() - interval '1 second'`)
      return rows
    },
  }
  const upstream = openUpstream(() => {})
  const stop = deliverThrough({ db: leaping, transport: upstream })
  await Promise.all(ids.map(isSent))
  await stop()
  assert.deepEqual(upstream.asked.sort(), ['leap-1@example.com', 'leap-2@example.com'])
})

test('when the database is back, results that wait for it come before claims of other workers', async () => {
  const [one, other] = [openShaky(), openShaky()]
  const upstream = openUpstream(() => {
    for (const { away } of [one, other]) Object.assign(away, { reads: true, writes: true })
  })
  const id = await send('third@example.com')
  const stops = [deliverThrough({ db: one.shaky, transport: upstream, leaseSeconds: 1 })]
  await until(async () => upstream.asked.length > 0, 'the hand-over')
  stops.push(deliverThrough({ db: other.shaky, transport: upstream, leaseSeconds: 1 }))
  await leaseIsOver(id)
  Object.assign(other.away, { reads: false, writes: false })
  await until(async () => other.state.answered > 0, 'the other worker to reach the database')
  Object.assign(one.away, { reads: false, writes: false })
  await isSent(id)
  await Promise.all(stops.map((stop) => stop()))
  assert.deepEqual(upstream.asked, ['third@example.com'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import type { Db } from '../../kernel/db.ts'
import type { Handover, Outcome, Transport } from '../../kernel/ports.ts'
import { int, row, text, time } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { claimDue, releaseClaims, renewClaims } from './claim-queries.ts'
import { deliverThrough } from './fixtures/engine.ts'
import { lanes } from './model.ts'
import { settle } from './settle.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools
const now = () => new Date()
const taken = { kind: 'accepted', upstreamId: null, response: '250 ok' } as const

function upstream(answer: (handover: Handover) => Promise<Outcome>): Transport & { asked: string[] } {
  const asked: string[] = []
  return {
    kind: 'scripted',
    signs: true,
    takesMarketing: true,
    concurrency: 4,
    asked,
    send: (handover) => {
      asked.push(handover.recipient)
      return answer(handover)
    },
    verify: async () => {},
    close: async () => {},
  }
}

const firstTry = { attempts: 1, unsure_tries: 0 }

async function send(to: string): Promise<string> {
  const body = { from: 'shop@example.com', to, subject: 'Hello', text: 'Hi.' }
  const { status, body: sent } = await app.call('POST', '/api/v1/transactional/send', { body })
  assert.equal(status, 202)
  return sent.id
}

const uuidOf = (id: string) => id.replace(/^msg_/, '')

const reaches = (id: string, status: string) =>
  until(async () => {
    const { body } = await app.call('GET', `/api/v1/messages/${id}`)
    return body.status === status && body
  }, `${id} to be ${status}`)

const Place = row<{ due_at: Date; attempts: number }>({ due_at: time, attempts: int })

const placeOf = (id: string) =>
  db.one(Place, sql`select due_at, attempts from delivery_queue where message_id = ${uuidOf(id)}`)

test('a hand-over that takes longer than the lease is not begun by another worker', async () => {
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const transport = upstream(async () => {
    await answered
    return taken
  })
  const id = await send('slow@example.com')
  const stops = [
    deliverThrough({ db, transport, leaseSeconds: 1 }),
    deliverThrough({ db, transport, leaseSeconds: 1 }),
  ]
  await until(async () => transport.asked.length > 0, 'the hand-over')
  const first = await placeOf(id)
  await until(async () => (await placeOf(id)).due_at.getTime() - first.due_at.getTime() > 2_000, 'two leases')
  answer()
  await reaches(id, 'sent')
  await Promise.all(stops.map((stop) => stop()))
  assert.deepEqual(transport.asked, ['slow@example.com'])
})

test('what another worker has by now is neither given back nor put off by the one before', async () => {
  const id = await send('twice@example.com')
  const claim = { lane: lanes.transactional, limit: 10, leaseSeconds: 60 }
  assert.equal((await claimDue(db, claim)).length, 1)
  await db.run(sql`update delivery_queue set due_at = clock_timestamp() where message_id = ${uuidOf(id)}`)
  assert.equal((await claimDue(db, claim)).length, 1)
  const held = await placeOf(id)
  assert.equal(held.attempts, 2)
  await releaseClaims(db, [{ id: uuidOf(id), attempts: 1 }])
  assert.deepEqual(await placeOf(id), held)
  const due = { id: uuidOf(id), account_id: app.accountId, recipient: 'twice@example.com', ...firstTry }
  const outcome = { kind: 'deferred', fault: 'message', smtpCode: 451, enhancedCode: null, message: 'later' }
  await settle({ db, now, retryFactor: 1, transport: { kind: 'scripted' } }, [
    { due: { ...due, due_from: now() }, outcome, eventId: crypto.randomUUID() } as never,
  ])
  assert.deepEqual(await placeOf(id), held)
  const { body } = await app.call('GET', `/api/v1/messages/${id}`)
  assert.deepEqual([body.status, body.attempts, body.last_error], ['queued', 0, null])
  await releaseClaims(db, [{ id: uuidOf(id), attempts: 2 }])
  assert.equal((await placeOf(id)).attempts, 1)
  await db.run(sql`delete from delivery_queue where message_id = ${uuidOf(id)}`)
})

test('a message that two workers handed over, one of them long frozen, counts as sent once', async () => {
  const id = await send('thawed@example.com')
  const claim = { lane: lanes.transactional, limit: 10, leaseSeconds: 60 }
  assert.equal((await claimDue(db, claim)).length, 1)
  const due = {
    ...{ id: uuidOf(id), account_id: app.accountId, recipient: 'thawed@example.com', mode: 'live' },
    ...firstTry,
  }
  const takenBy = (attempts: number, at: Date) =>
    settle({ db, now: () => at, retryFactor: 1, transport: { kind: 'scripted' } }, [
      { due: { ...due, attempts, due_from: at }, outcome: taken, eventId: crypto.randomUUID() } as never,
    ])
  const at = now()
  await takenBy(2, at)
  await takenBy(1, new Date(at.getTime() + 9_000))
  const Event = row<{ type: string; at: Date }>({ type: text, at: time })
  const events = await db.many(
    Event,
    sql`select type, at from message_events where message_id = ${due.id} order by at`,
  )
  assert.deepEqual(events, [{ type: 'sent', at }])
})

test('what a worker that stops has not begun is free at once, and nothing is said of the upstream', async () => {
  const [begun, behind] = [await send('begun@example.com'), await send('behind@example.com')]
  let [letGo, answer] = [() => {}, () => {}]
  const told = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const said = { smtpCode: null, enhancedCode: null, message: 'the sender is shutting down' }
  const transport = upstream(async ({ recipient }) => {
    if (recipient.startsWith('begun')) return answered.then(() => taken)
    return told.then(() => ({ kind: 'deferred', fault: 'transport', ...said }))
  })
  const stop = deliverThrough({ db, transport: { ...transport, letGo } })
  await until(async () => transport.asked.length === 2, 'both to be under way')
  const stopped = stop()
  await told
  answer()
  await stopped
  await reaches(begun, 'sent')
  const { attempts, due_at } = await placeOf(behind)
  assert.deepEqual([attempts, due_at <= now()], [0, true])
  const { body } = await app.call('GET', `/api/v1/messages/${behind}`)
  assert.deepEqual([body.status, body.attempts, body.last_error], ['queued', 0, null])
  await db.run(sql`delete from delivery_queue where message_id = ${uuidOf(behind)}`)
})

test('a claim whose answer comes late is as old as the question', async () => {
  const id = await send('late-claim@example.com')
  const transport = upstream(async () => taken)
  let isFirst = true
  const standing: Db = {
    ...db,
    // The process stands still while the answer to its claim is on its way.
    many: async (shape, statement) => {
      const rows = await db.many(shape, statement)
      if (rows.length > 0 && isFirst) {
        isFirst = false
        await pause(1_500)
      }
      return rows
    },
  }
  const stop = deliverThrough({ db: standing, transport, leaseSeconds: 1 })
  await until(async () => !isFirst, 'the claim')
  const other = upstream(async () => {
    await pause(1_500)
    return taken
  })
  const stopOther = deliverThrough({ db, transport: other, leaseSeconds: 1 })
  await reaches(id, 'sent')
  await Promise.all([stop(), stopOther()])
  assert.deepEqual([transport.asked, other.asked], [[], ['late-claim@example.com']])
})

test('a renewal that comes late does not bring forward what was put off', async () => {
  const id = await send('put-off@example.com')
  assert.equal((await claimDue(db, { lane: lanes.transactional, limit: 10, leaseSeconds: 60 })).length, 1)
  await db.run(sql`
    update delivery_queue set due_at = clock_timestamp() + interval '4 hours' where message_id = ${uuidOf(id)}`)
  const putOff = await placeOf(id)
  await renewClaims(db, [{ id: uuidOf(id), attempts: 1 }], 60)
  assert.deepEqual(await placeOf(id), putOff)
  await db.run(sql`delete from delivery_queue where message_id = ${uuidOf(id)}`)
})

test('words that the database does not take are kept without what it refuses', async () => {
  const said = { smtpCode: 550, enhancedCode: '5.1.1', message: 'no\0 such \ud83d mailbox' }
  const transport = upstream(async ({ recipient }) =>
    recipient.startsWith('bad') ? { kind: 'rejected', ...said } : { ...taken, response: '250 \0\udc00 ok' },
  )
  const [bad, good] = [await send('bad-words@example.com'), await send('good-words@example.com')]
  const stop = deliverThrough({ db, transport })
  assert.equal((await reaches(bad, 'failed')).last_error.message, 'no such \ufffd mailbox')
  await reaches(good, 'sent')
  await stop()
})

test('a result that cannot be recorded takes no other with it', async () => {
  const senders: (() => void)[] = []
  const transport = upstream(async ({ recipient }) => {
    await new Promise<void>((resolve) => {
      senders.push(resolve)
    })
    const isBad = recipient.startsWith('bad')
    return isBad ? { kind: 'rejected', smtpCode: 550, enhancedCode: '5.1.1\0', message: 'no' } : taken
  })
  const ids = []
  for (const name of ['bad', 'one', 'two', 'three']) ids.push(await send(`${name}-together@example.com`))
  const stop = deliverThrough({ db, transport })
  await until(async () => senders.length === 4, 'all four to be under way')
  for (const answer of senders) answer()
  for (const id of ids.slice(1)) await reaches(id, 'sent')
  await stop()
  assert.equal(transport.asked.length, 4)
})

test('results are recorded in the order of messages: who locks several of them is not locked out', async () => {
  const [first = '', second = ''] = [await send('a-order@example.com'), await send('b-order@example.com')]
    .map(uuidOf)
    .sort()
  const claim = { lane: lanes.transactional, limit: 10, leaseSeconds: 60 }
  assert.equal((await claimDue(db, claim)).length, 2)
  const lock = (tx: Db, id: string) => tx.run(sql`select 1 from messages where id = ${id} for update`)
  let tries = 0
  let settled: Promise<unknown> = Promise.resolve()
  await db.transaction(async (tx) => {
    tries++
    await tx.run(sql`select set_config('deadlock_timeout', '10ms', true)`)
    await lock(tx, first)
    const results = [second, first].map((id) => ({
      due: { id, account_id: app.accountId, recipient: `${id}@example.com`, mode: 'live', ...firstTry },
      outcome: taken,
      eventId: crypto.randomUUID(),
    }))
    settled = settle({ db, now, retryFactor: 1, transport: { kind: 'scripted' } }, results as never)
    const waits = sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until(async () => (await db.run(waits)) > 0, 'the recording to wait')
    await lock(tx, second)
  })
  await settled
  assert.equal(tries, 1)
})

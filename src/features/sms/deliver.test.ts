// What happens between acceptance and hand-over, and when workers die.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { kill, startWorker } from '../../../test/faults/worker.ts'
import { startAwsSms } from '../../../test/stand-ins/aws-sms.ts'
import { until } from '../../../test/until.ts'
import { silentLog } from '../../kernel/log.ts'
import type { SmsHandover, SmsOutcome, SmsTransport } from '../../kernel/ports.ts'
import { sql } from '../../kernel/sql.ts'
import { captureSms } from './capture.ts'
import { startSmsDelivery } from './deliver.ts'
import { claimSms } from './delivery-queries.ts'
import { markDelivered } from './event-queries.ts'
import { accepted, makeSmsApp, monday } from './fixtures/app.ts'

const app = await makeSmsApp()
const { send, db } = app

const taken: SmsOutcome = { kind: 'accepted', upstreamId: null }

/** One worker with a transport of the test's own. */
function work(answer: (handover: SmsHandover) => Promise<SmsOutcome>, concurrency = 5) {
  const handed: SmsHandover[] = []
  const transport: SmsTransport = {
    kind: 'test',
    concurrency,
    shortestLifeSeconds: 0,
    send: (handover) => {
      handed.push(handover)
      return answer(handover)
    },
    verify: async () => {},
    close: async () => {},
  }
  const now = () => app.clock.at
  const needs = { db, log: silentLog, now, transport, capture: captureSms(db, now) }
  const delivery = startSmsDelivery({ ...needs, retryFactor: 1, leaseSeconds: 30 })
  return { handed, ...delivery }
}

async function during<T>(worker: ReturnType<typeof work>, task: () => Promise<T>): Promise<T> {
  try {
    return await task()
  } finally {
    await worker.stop()
  }
}

test('a worker does not begin again what it has itself, although the lease is over', async () => {
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const worker = work(async () => {
    await answered
    return taken
  })
  await during(worker, async () => {
    const first = accepted(await send())
    await until(async () => worker.handed.length === 1, 'the hand-over')
    app.clock.at = new Date(monday.getTime() + 31_000)
    const second = accepted(await send())
    await until(async () => worker.handed.some(({ id }) => id !== worker.handed[0]?.id), 'the next claim')
    answer()
    await app.becomes(first, 'sent')
    await app.becomes(second, 'sent')
  })
  assert.equal(worker.handed.length, 2)
  app.clock.at = monday
})

describe('between acceptance and hand-over', () => {
  test('the window may close: the SMS fails with the reason and is handed to nobody', async () => {
    app.clock.at = new Date('2026-11-16T18:59:59.000Z')
    const id = accepted(await send({ type: 'marketing' }))
    const other = accepted(await send())
    app.clock.at = new Date('2026-11-16T19:00:00.000Z')
    const worker = work(async () => taken)
    await during(worker, async () => {
      assert.match((await app.becomes(id, 'failed')).last_error ?? '', /08:00 to 20:00/)
      await app.becomes(other, 'sent')
    })
    assert.deepEqual([await app.eventsOf(id), worker.handed.length], [['skipped'], 1])
    app.clock.at = monday
  })

  test('the person may leave', async () => {
    const { key } = await app.makeAccount()
    const body = { email: 'ann@example.com', attributes: { SMS: '33612345678' } }
    await app.call('POST', '/v3/contacts', { key, body })
    const id = accepted(await send({}, key))
    await app.call('PUT', '/v3/contacts/ann@example.com', { key, body: { smsBlacklisted: true } })
    const worker = work(async () => taken)
    await during(worker, () => app.becomes(id, 'suppressed'))
    assert.deepEqual([await app.eventsOf(id), worker.handed], [['blocked'], []])
  })
})

test('words that the database does not take are kept without what it refuses', async () => {
  const id = accepted(await send())
  const worker = work(async () => ({ kind: 'failed', as: 'hard_bounce', message: 'no\0 such \ud83d number' }))
  const found = await during(worker, () => app.becomes(id, 'failed'))
  assert.deepEqual([found.last_error, worker.handed.length], ['no such \ufffd number', 1])
})

describe('tries', () => {
  test('begin with the first one, however long nobody tried', async () => {
    app.clock.at = monday
    const id = accepted(await send())
    app.clock.at = new Date(monday.getTime() + 8 * 86_400_000)
    const worker = work(async () => ({ kind: 'deferred', fault: 'transport', message: 'Not now' }))
    const found = await during(worker, () =>
      until(async () => {
        const sms = await app.find(id)
        return sms.last_error !== null && sms
      }, 'the first try'),
    )
    assert.equal(found.status, 'queued')
    await db.run(sql`delete from sms_messages where account_id = ${app.accountId} and status = 'queued'`)
    app.clock.at = monday
  })

  test('of which nobody hears whether they were sent are three, and a report later tells', async () => {
    const id = accepted(await send())
    const worker = work(async () => ({ kind: 'uncertain', message: 'socket hang up' }))
    const found = await during(worker, () =>
      until(async () => {
        const sms = await app.find(id)
        const isWaiting = sms.due_at !== null && sms.due_at.getTime() !== app.clock.at.getTime() + 30_000
        if (sms.last_error !== null && isWaiting) app.move(10 * 60_000)
        return sms.status === 'failed' && sms
      }, 'the end of its tries'),
    )
    assert.deepEqual(
      [worker.handed.length, found.last_error],
      [3, 'It may have been sent, 3 times at most: socket hang up'],
    )
    await db.transaction((tx) =>
      markDelivered(tx, { accountId: app.accountId, id: String(id) }, app.clock.at),
    )
    assert.equal((await app.find(id)).status, 'delivered')
    app.clock.at = monday
  })

  test('follow the schedule of email and end after a day', async () => {
    const id = accepted(await send())
    const worker = work(async () => ({ kind: 'deferred', fault: 'message', message: 'Not now' }))
    const waits: number[] = []
    await during(worker, async () => {
      for (let attempts = 1; attempts <= 20; attempts++) {
        const found = await until(async () => {
          const sms = await app.find(id)
          return (
            (sms.status === 'failed' || worker.handed.length === attempts) && sms.last_error !== null && sms
          )
        }, `try ${attempts}`)
        const settled = await until(async () => {
          const sms = await app.find(id)
          return (sms.due_at === null || sms.due_at.getTime() !== app.clock.at.getTime() + 30_000) && sms
        }, `the result of try ${attempts}`)
        if (found.status === 'failed' || settled.due_at === null) break
        const wait = settled.due_at.getTime() - app.clock.at.getTime()
        waits.push(wait / 60_000)
        app.move(wait)
      }
    })
    for (const [i, minutes] of [1, 5, 15, 30].entries())
      assert.ok(Math.abs((waits[i] ?? 0) - minutes) <= minutes * 0.06, `wait ${i} was ${waits[i]}`)
    assert.deepEqual([(await app.find(id)).status, await app.eventsOf(id)], ['failed', ['soft_bounce']])
    app.clock.at = monday
  })
})

describe('claims', () => {
  const endLeases = () =>
    db.run(sql`update sms_messages set claimed_until = clock_timestamp() where claimed_until is not null`)
  const claim = (limit: number) => claimSms(db, { limit, leaseSeconds: 30, now: app.clock.at })

  test('are of one worker until the lease ends, and shared out between accounts', async () => {
    const [one, other] = [await app.makeAccount(), await app.makeAccount()]
    for (let i = 0; i < 6; i++) accepted(await send({}, one.key))
    accepted(await send({}, other.key))
    const first = await claim(4)
    assert.ok(first.some(({ account_id }) => account_id === other.accountId))
    const second = await claim(100)
    assert.deepEqual([first.length + second.length, (await claim(100)).length], [7, 0])
    app.move(30_000)
    // A clock that is ahead of the others is not enough.
    assert.deepEqual(await claim(100), [])
    await endLeases()
    const again = await claim(100)
    assert.ok(again.length === 7 && again.every(({ attempts }) => attempts === 2))
    app.move(31_000)
    await endLeases()
    const worker = work(async () => taken)
    await during(worker, async () => {
      for (const { id } of again) await app.becomes(Number(id), 'sent')
    })
    assert.equal(worker.handed.length, 7)
  })

  test('one that is stopped finishes what it has begun', async () => {
    const id = accepted(await send())
    let release = () => {}
    const worker = work(() => new Promise((resolve) => (release = () => resolve(taken))))
    await until(async () => worker.handed.length === 1, 'a hand-over')
    const stopped = worker.stop()
    release()
    await stopped
    assert.equal((await app.find(id)).status, 'sent')
  })
})

test('a worker killed in mid-send: everything goes out, at most what was under way twice', async () => {
  const upstream = await startAwsSms()
  after(() => upstream.close())
  const own = await makeSmsApp({ now: () => new Date() })
  const env = {
    POSTHORN_SMS_TRANSPORT: 'sns://eu-west-3',
    POSTHORN_AWS_ENDPOINT: upstream.endpoint,
    AWS_ACCESS_KEY_ID: 'AKIATEST',
    AWS_SECRET_ACCESS_KEY: 'secret',
    POSTHORN_LEASE_SECONDS: '5',
  }
  const ids = await Promise.all(Array.from({ length: 40 }, async () => accepted(await own.send())))
  const places = 10
  upstream.fail(...Array.from({ length: places }, () => 'hang' as const))
  const worker = await startWorker('./sms-worker.ts', own.databaseUrl, env)
  await until(async () => upstream.sent.length === places, 'hand-overs under way')
  await kill(worker)
  await startWorker('./sms-worker.ts', own.databaseUrl, env)
  for (const id of ids) await until(async () => (await own.find(id)).status === 'sent', 'all sent', 30_000)
  const sent = upstream.sent.map(({ Context }) => Number(Context?.posthorn_message))
  assert.deepEqual([...new Set(sent)].sort(), [...ids].sort())
  assert.equal(sent.length, ids.length + places)
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { maybe, row, time } from '../../kernel/row.ts'
import { SealFault } from '../../kernel/seal.ts'
import { sql } from '../../kernel/sql.ts'
import type { FindDkimKeys } from './compose-message.ts'
import { deliverThrough } from './fixtures/engine.ts'
import { taken, upstream } from './fixtures/scripted-upstream.ts'
import { nextTry } from './model.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools

const paused = {
  kind: 'deferred',
  fault: 'transport',
  retryAfterMs: 600_000,
  smtpCode: null,
  enhancedCode: '4.3.2',
  message: 'Sending is paused for this account',
} as const

async function send(to: string, from = 'shop@example.com'): Promise<string> {
  const body = { from, to, subject: 'Hello', text: 'Hi.' }
  const { status, body: sent } = await app.call('POST', '/api/v1/transactional/send', { body })
  assert.equal(status, 202)
  return sent.id
}

const read = async (id: string) => (await app.call('GET', `/api/v1/messages/${id}`)).body
const reaches = (id: string, status: string) =>
  until(async () => {
    const message = await read(id)
    return message.status === status && message
  }, `${id} to be ${status}`)

describe('an upstream that takes nobody’s mail', () => {
  test('holds a message with the reason and lets it go by itself when it is repaired', async () => {
    let isPaused = true
    const stop = deliverThrough({
      db,
      transport: upstream(() => (isPaused ? paused : taken)),
      retryFactor: 0.0005,
    })
    const id = await send('held@example.com')
    const held = await reaches(id, 'held')
    assert.match(
      held.held_reason,
      /Sending is paused for this account\. It leaves by itself .* the next try is at 20/,
    )
    assert.deepEqual([held.last_error.enhanced_code, held.attempts], ['4.3.2', 0])
    assert.deepEqual(await listed('held'), [id])
    isPaused = false
    const sent = await reaches(id, 'sent')
    assert.deepEqual([sent.held_reason, sent.last_error, sent.attempts], [null, null, 1])
    await stop()
  })

  test('is asked by a few messages only, and the others keep their tries', async () => {
    const transport = upstream(() => paused)
    const ids = await Promise.all(Array.from({ length: 40 }, (_, i) => send(`r${i}@example.com`)))
    const stop = deliverThrough({ db, transport })
    await until(async () => (await listed('held')).length > 0, 'a message to be held')
    await stop()
    assert.ok(transport.asked.length <= transport.concurrency, String(transport.asked.length))
    const attempts = await Promise.all(ids.map(async (id) => (await read(id)).attempts))
    assert.deepEqual(new Set(attempts), new Set([0]))
    const queue = await db.run(sql`select 1 from delivery_queue where attempts > 0`)
    assert.equal(queue, 0)
    await db.run(sql`delete from delivery_queue`)
  })

  test('fails a message after a week, which counts against no recipient', async () => {
    const id = await send('week@example.com')
    await db.run(sql`
      update messages
         set tried_since = now() - interval '8 days'
       where account_id = ${app.accountId} and recipient = 'week@example.com'`)
    const stop = deliverThrough({ db, transport: upstream(() => paused), retryFactor: 0.001 })
    assert.equal((await reaches(id, 'failed')).last_error.code, 'retries_spent')
    const counted = await db.run(sql`
      select 1 from soft_bounces where account_id = ${app.accountId} and email = 'week@example.com'`)
    assert.equal(counted, 0)
    await stop()
  })

  test('keeps a message for a week of tries, however long it waited for the first one', async () => {
    const id = await send('late@example.com')
    await db.run(sql`
      update messages
         set created_at = now() - interval '8 days'
       where account_id = ${app.accountId} and recipient = 'late@example.com'`)
    let isAway = true
    const transport = upstream(() => (isAway ? paused : taken))
    const stop = deliverThrough({ db, transport, retryFactor: 0.0005 })
    await reaches(id, 'held')
    const Tried = row<{ tried_since: Date | null }>({ tried_since: maybe(time) })
    const triedSince = async () => {
      const ofLate = sql`account_id = ${app.accountId} and recipient = 'late@example.com'`
      return (await db.one(Tried, sql`select tried_since from messages where ${ofLate}`)).tried_since
    }
    const first = await triedSince()
    assert.ok(first && Date.now() - first.getTime() < 60_000)
    await until(async () => transport.asked.length > 2, 'further tries')
    assert.deepEqual(await triedSince(), first)
    isAway = false
    await reaches(id, 'sent')
    await stop()
  })

  test('a message whose address became suppressed while it was held does not leave', async () => {
    let isPaused = true
    const transport = upstream(() => (isPaused ? paused : taken))
    const stop = deliverThrough({ db, transport, retryFactor: 0.001 })
    const id = await send('changed@example.com')
    await reaches(id, 'held')
    await app.call('POST', '/api/v1/suppressions', {
      body: { email: 'changed@example.com', reason: 'manual' },
    })
    isPaused = false
    assert.equal((await reaches(id, 'suppressed')).held_reason, null)
    await stop()
  })
})

test('a process without the key that seals secrets holds what it cannot sign, and sends the rest', async () => {
  let isMissing = true
  const transport = { ...upstream(() => taken), signs: false }
  const findDkimKeys: FindDkimKeys = async (_account, domain) => {
    if (domain === 'example.com' && isMissing) throw new SealFault('a secret was sealed with another key')
    return []
  }
  const stop = deliverThrough({ db, transport, retryFactor: 0.0005, findDkimKeys })
  const id = await send('unsigned@example.com')
  const held = await reaches(id, 'held')
  assert.match(held.held_reason, /^It cannot leave here: a secret was sealed with another key\. It leaves by/)
  assert.deepEqual([held.attempts, transport.asked], [0, []])
  const other = await send('other@example.com', 'shop@example.net')
  await reaches(other, 'sent')
  assert.equal((await read(id)).status, 'held')
  isMissing = false
  await reaches(id, 'sent')
  await stop()
})

async function listed(status: string): Promise<string[]> {
  const { body } = await app.call('GET', `/api/v1/messages?status=${status}`)
  return body.data.map(({ id }: { id: string }) => id)
}

describe('the next try', () => {
  const triedSince = new Date('2026-11-15T12:00:00Z')
  const hours = 3_600_000
  const tried = (ageMs: number, given: Partial<Parameters<typeof nextTry>[0]>) =>
    nextTry({
      attempts: 1,
      triedSince,
      now: new Date(triedSince.getTime() + ageMs),
      isTransport: false,
      askedMs: 0,
      factor: 1,
      ...given,
    })
  const waits = (ageMs: number, given: Partial<Parameters<typeof nextTry>[0]>) => {
    const next = tried(ageMs, given)
    return next && (next.at.getTime() - triedSince.getTime() - ageMs) / 60_000
  }
  const about = (minutes: number, found: number | undefined) =>
    assert.ok(found !== undefined && Math.abs(found - minutes) <= minutes * 0.06, String(found))

  test('grows from a minute to hours and is given up after a day', () => {
    about(1, waits(0, { attempts: 1 }))
    about(5, waits(0, { attempts: 2 }))
    about(240, waits(0, { attempts: 99 }))
    assert.equal(tried(24 * hours, { attempts: 12 }), undefined)
  })

  test('is made for a day also of a message that was kept from leaving for days', () => {
    about(1, waits(72 * hours, { attempts: 1 }))
    about(120, waits(72 * hours, { attempts: 6 }))
    about(240, waits(72 * hours, { attempts: 11 }))
    assert.equal(tried(72 * hours, { attempts: 12 }), undefined)
    about(2, waits(72 * hours, { attempts: 1, factor: 2 }))
    assert.notEqual(tried(72 * hours, { attempts: 11, factor: 2 }), undefined)
    assert.equal(tried(72 * hours, { attempts: 12, factor: 2 }), undefined)
  })

  test('is given up after as many tries where waits are shortened', () => {
    const tries = (factor: number) => {
      const next = (attempts: number) => tried(0, { attempts, factor })
      return Array.from({ length: 50 }, (_, i) => i + 1).find((attempts) => !next(attempts))
    }
    assert.equal(tries(0.001), 12)
    assert.equal(tries(1), undefined)
    assert.notEqual(tried(0, { isTransport: true, attempts: 99, factor: 0.001 }), undefined)
    assert.notEqual(tried(0, { askedMs: 600_000, attempts: 99, factor: 0.001 }), undefined)
  })

  test('is not before the time that the upstream asks for', () => {
    about(3, waits(0, { askedMs: 180_000 }))
    about(240, waits(0, { attempts: 99, askedMs: 180_000 }))
  })

  test('of a wait that needs somebody holds the message, for a week', () => {
    assert.equal(tried(0, { askedMs: 600_000 })?.isHeld, true)
    assert.equal(tried(0, { askedMs: 60_000 })?.isHeld, false)
    assert.equal(tried(6 * 24 * hours, { askedMs: 600_000 })?.isHeld, true)
    assert.equal(tried(7 * 24 * hours, { askedMs: 600_000 }), undefined)
  })

  test('comes a day later where the upstream asks for weeks, and the message is held, not lost', () => {
    for (const isTransport of [true, false]) {
      const asked = { askedMs: 10 * 24 * hours, isTransport }
      assert.equal(tried(0, asked)?.isHeld, true)
      about(24 * 60, waits(0, asked))
    }
  })

  test('while the upstream is away comes soon, and after a day the message is held, not lost', () => {
    about(1 / 6, waits(0, { isTransport: true, attempts: 50 }))
    assert.equal(tried(23 * hours, { isTransport: true })?.isHeld, false)
    assert.equal(tried(25 * hours, { isTransport: true })?.isHeld, true)
    assert.equal(tried(8 * 24 * hours, { isTransport: true }), undefined)
  })
})

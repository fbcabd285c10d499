import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { readId } from '../../kernel/id.ts'
import { silentLog } from '../../kernel/log.ts'
import type { Transport, UpstreamEvent } from '../../kernel/ports.ts'
import { int, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { captureTransport } from './capture.ts'
import { startDelivery } from './deliver.ts'
import { deleteOldFeedback } from './feedback-queries.ts'
import { recordFeedback } from './record-feedback.ts'

const app = await makeApp()
const { db } = app.pools
const now = () => new Date()

/** Accepted and waiting: no engine runs here unless a test starts one. */
async function queued(to: string): Promise<{ id: string; ref: string }> {
  const body = { from: 'shop@example.com', to, subject: 'Hello', text: 'Hi.' }
  const { body: sent } = await app.call('POST', '/api/v1/transactional/send', { body })
  return { id: sent.id, ref: readId('msg', sent.id) ?? '' }
}

type More = Partial<UpstreamEvent>

const eventOf = (ref: string, type: UpstreamEvent['type'], more: More = {}): UpstreamEvent => ({
  provider: 'ses',
  upstreamId: null,
  messageRef: ref,
  type,
  recipient: 'x@reader.example',
  at: now(),
  ...more,
})

const tell = (...events: UpstreamEvent[]) =>
  recordFeedback({ db, log: silentLog, now }, { provider: 'ses', id: randomUUID(), events })

const bounce = (bounceType: string, subType: string, diagnostic: string): More => ({
  bounce: { bounceType, subType, smtpCode: null, enhancedCode: null, diagnostic },
})

const read = async (id: string) => (await app.call('GET', `/api/v1/messages/${id}`)).body
const suppressed = async (email: string) =>
  (await app.call('GET', `/api/v1/suppressions?email=${email}`)).body.data[0]?.reason

const Count = row<{ count: number }>({ count: int })
const inQueue = async (ref: string) =>
  (await db.one(Count, sql`select count(*)::int as count from delivery_queue where message_id = ${ref}`))
    .count

const Type = row<{ type: string }>({ type: text })
const typesOf = async (ref: string) => {
  const events = await db.many(
    Type,
    sql`select type from message_events where message_id = ${ref} order by id`,
  )
  return events.map(({ type }) => type)
}

function runEngine(more: Partial<Transport> = {}) {
  const sent: string[] = []
  const transport: Transport = {
    ...captureTransport(db, now),
    kind: 'fake',
    send: async ({ recipient }) => {
      sent.push(recipient)
      return { kind: 'accepted', upstreamId: null, response: 'ok' }
    },
    ...more,
  }
  const engine = startDelivery({
    db,
    log: silentLog,
    now,
    transport,
    capture: captureTransport(db, now),
    retryFactor: 1,
    leaseSeconds: 60,
    findDkimKeys: async () => [],
    trackingOf: () => ({}),
  })
  return { sent, stop: engine.stop }
}

/** One whose fifth try ends without an answer. */
async function givenUp(to: string, during: (ref: string) => Promise<void> = async () => {}) {
  const message = await queued(to)
  await db.run(sql`
    -- all accounts: the test made it
    update messages set unsure_tries = 4 where id = ${message.ref}`)
  const engine = runEngine({
    send: async () => {
      await during(message.ref)
      return { kind: 'uncertain', smtpCode: null, enhancedCode: null, message: 'the connection was lost' }
    },
  })
  await until(async () => (await inQueue(message.ref)) === 0, 'the message to leave the queue')
  await engine.stop()
  return message
}

describe('the word of the upstream', () => {
  test('that it has the message ends the tries to hand it over', async () => {
    const { id, ref } = await queued('a@reader.example')
    await tell(eventOf(ref, 'send', { upstreamId: 'up-1' }))
    assert.equal((await read(id)).status, 'sent')
    const engine = runEngine()
    await until(async () => (await inQueue(ref)) === 0, 'the message to leave the queue')
    await engine.stop()
    assert.deepEqual(engine.sent, [])
    assert.equal((await read(id)).status, 'sent')
  })

  test('is heard of one that is held, or whose recipient delays it: neither is handed over once more', async () => {
    for (const type of ['send', 'delivery', 'deferred', 'complaint'] as const) {
      const { id, ref } = await queued(`${type}.held@reader.example`)
      await db.run(sql`
        -- all accounts: the test made it
        update messages set status = 'held', held_reason = 'Not now.', attempts = 1 where id = ${ref}`)
      await tell(eventOf(ref, type, { complaint: { feedbackType: 'abuse', subType: null } }))
      const engine = runEngine()
      await until(async () => (await inQueue(ref)) === 0, 'the message to leave the queue')
      await engine.stop()
      const { status, held_reason } = await read(id)
      const expected = [type === 'delivery' ? 'delivered' : 'sent', null, []]
      assert.deepEqual([status, held_reason, engine.sent], expected)
    }
  })

  test('may be faster than our own record: it counts as sent once', async () => {
    for (const type of ['send', 'delivery'] as const) {
      const { ref } = await queued(`${type}.first@reader.example`)
      const engine = runEngine({
        send: async () => {
          await tell(eventOf(ref, type, { at: new Date(Date.now() - 1_000) }))
          return { kind: 'accepted', upstreamId: 'up-2', response: 'ok' }
        },
      })
      await until(async () => (await inQueue(ref)) === 0, 'the message to leave the queue')
      await engine.stop()
      assert.deepEqual(await typesOf(ref), type === 'send' ? ['sent'] : ['sent', 'delivery'])
    }
  })

  test('in any order: a bounce wins, a delay changes nothing', async () => {
    const { id, ref } = await queued('b@reader.example')
    await tell(eventOf(ref, 'deferred', bounce('Transient', 'General', 'smtp; 451 4.7.1 later')))
    assert.equal((await read(id)).status, 'queued')
    await tell(eventOf(ref, 'delivery'))
    await tell(eventOf(ref, 'send'))
    assert.equal((await read(id)).status, 'delivered')
    await tell(eventOf(ref, 'bounce', bounce('Permanent', 'General', 'smtp; 550 5.1.1 unknown')))
    await tell(eventOf(ref, 'delivery'))
    const { status, last_error } = await read(id)
    assert.deepEqual([status, last_error.code], ['failed', 'unknown_user'])
    assert.equal(await suppressed('b@reader.example'), 'hard_bounce')
  })

  test('that somebody is away, which Amazon calls a bounce, takes nothing back', async () => {
    const { id, ref } = await queued('away@reader.example')
    await tell(eventOf(ref, 'delivery'))
    const told = { bounceType: 'Transient', subType: 'General', smtpCode: null, enhancedCode: null }
    await tell(eventOf(ref, 'bounce', { bounce: { ...told, diagnostic: null } }))
    const { status, events } = await read(id)
    assert.deepEqual([status, ...events.map(({ type }: { type: string }) => type)], ['delivered', 'delivery'])
    await tell(eventOf(ref, 'bounce', bounce('Transient', 'General', 'smtp; 451 4.3.0 given up')))
    assert.equal((await read(id)).status, 'failed')
  })

  test('of one that was given up while nobody knew is kept: its state stays, and it says so', async () => {
    const { id, ref } = await givenUp('given-up@reader.example')
    const before = await read(id)
    assert.match(before.last_error.message, /^It may have been sent, 5 times at most/)
    await tell(eventOf(ref, 'send', { upstreamId: 'up-late' }))
    await tell(eventOf(ref, 'delivery'))
    await tell(eventOf(ref, 'send'))
    const delivered = await read(id)
    assert.deepEqual([delivered.status, delivered.last_error.code], ['failed', 'outcome_unknown'])
    assert.equal(delivered.last_error.message, 'It was sent all the same. Amazon SES says: delivery')
    assert.ok(delivered.sent_at && delivered.delivered_at)
    assert.deepEqual(await typesOf(ref), ['bounce', 'sent', 'delivery'])
    await tell(eventOf(ref, 'complaint', { complaint: { feedbackType: 'abuse', subType: null } }))
    assert.equal(await suppressed('given-up@reader.example'), 'complaint')
  })

  test('that one which was given up came back takes the place of not knowing', async () => {
    const { id, ref } = await givenUp('came-back@reader.example')
    await tell(eventOf(ref, 'bounce', bounce('Permanent', 'General', 'smtp; 550 5.1.1 unknown')))
    const { status, last_error } = await read(id)
    assert.deepEqual([status, last_error.code], ['failed', 'unknown_user'])
    assert.equal(await suppressed('came-back@reader.example'), 'hard_bounce')
  })

  test('of one that a restored backup kept back is kept too: it had left', async () => {
    const { id, ref } = await queued('restored@reader.example')
    const why = JSON.stringify({
      code: 'restored',
      smtp_code: null,
      enhanced_code: null,
      message: 'Kept back.',
    })
    await db.run(sql`
      -- all accounts: the test made it
      update messages set status = 'cancelled', last_error = ${why}::jsonb where id = ${ref}`)
    await tell(eventOf(ref, 'delivery'))
    const { status, last_error, delivered_at } = await read(id)
    assert.equal(status, 'cancelled')
    assert.ok(delivered_at)
    assert.equal(last_error.message, 'It was sent all the same. Amazon SES says: delivery')
    assert.deepEqual(await typesOf(ref), ['sent', 'delivery'])
  })

  test('that it has the message is believed, not the silence that ends after it', async () => {
    const { id, ref } = await givenUp('silent@reader.example', (one) => tell(eventOf(one, 'send')))
    const { status, events } = await read(id)
    assert.deepEqual([status, events, await typesOf(ref)], ['sent', [], ['sent']])
  })

  test('about the content fails the message and spares the address', async () => {
    const { id, ref } = await queued('c@reader.example')
    await tell(eventOf(ref, 'reject'))
    const { status, last_error } = await read(id)
    assert.deepEqual([status, last_error.code], ['failed', 'content'])
    assert.equal(await suppressed('c@reader.example'), undefined)
  })

  test('about a list of its own: lasting entries are taken over, passing ones are not', async () => {
    const [full, complained] = [await queued('d@reader.example'), await queued('e@reader.example')]
    await tell(eventOf(full.ref, 'bounce', bounce('Transient', 'Suppressed', 'mailbox full')))
    const complaint = { feedbackType: null, subType: 'OnAccountSuppressionList' }
    await tell(eventOf(complained.ref, 'complaint', { complaint }))
    assert.deepEqual(
      [(await read(full.id)).status, (await read(complained.id)).status],
      ['suppressed', 'suppressed'],
    )
    assert.deepEqual(
      [await suppressed('d@reader.example'), await suppressed('e@reader.example')],
      [undefined, 'complaint'],
    )
  })

  test('about an address where Amazon lets everyone try out bounces suppresses nothing', async () => {
    const address = 'bounce@simulator.amazonses.com'
    const { id, ref } = await queued(address)
    await tell(eventOf(ref, 'bounce', bounce('Permanent', 'General', 'smtp; 550 5.1.1 unknown')))
    await tell(eventOf(ref, 'complaint', { complaint: { feedbackType: 'abuse', subType: null } }))
    const { status, events } = await read(id)
    assert.deepEqual(
      [status, ...events.map(({ type }: { type: string }) => type)],
      ['failed', 'bounce', 'complaint'],
    )
    assert.equal(await suppressed(address), undefined)
  })

  test('in one envelope is recorded whole or not at all', async () => {
    const { id, ref } = await queued('f@reader.example')
    // No text of the database may hold a NUL.
    const broken = eventOf('', 'delivery', { upstreamId: '\0' })
    const feedback = { provider: 'ses' as const, id: randomUUID(), events: [eventOf(ref, 'send'), broken] }
    await assert.rejects(recordFeedback({ db, log: silentLog, now }, feedback))
    assert.equal((await read(id)).status, 'queued')
    feedback.events.pop()
    await recordFeedback({ db, log: silentLog, now }, feedback)
    assert.equal((await read(id)).status, 'sent')
  })
})

test('envelopes are remembered for a while only', async () => {
  await tell()
  await tell()
  const before = new Date(Date.now() + 1_000)
  assert.equal(await deleteOldFeedback(db, { before, limit: 1 }), 1)
  assert.ok((await deleteOldFeedback(db, { before, limit: 1_000 })) > 0)
  assert.equal(await deleteOldFeedback(db, { before, limit: 1_000 }), 0)
})

test('marketing mail never goes to an upstream that forbids it', async () => {
  const { id, ref } = await queued('g@reader.example')
  await db.run(sql`update messages set stream = 'marketing' where id = ${ref}`)
  await db.run(sql`update delivery_queue set lane = 1 where message_id = ${ref}`)
  const engine = runEngine({ takesMarketing: false })
  const held = await until(async () => {
    const found = await read(id)
    return found.status === 'held' && found
  }, 'the message to be held')
  await engine.stop()
  assert.ok(!engine.sent.includes('g@reader.example'))
  assert.match(held.held_reason, /^It cannot leave here: the upstream takes transactional mail only/)
  assert.equal(await suppressed('g@reader.example'), undefined)
})

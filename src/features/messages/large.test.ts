// Large messages, of which few are on their way at a time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import type { Transport } from '../../kernel/ports.ts'
import { sql } from '../../kernel/sql.ts'
import { deliverThrough } from './fixtures/engine.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools

/** An upstream that has ten places, keeps each message for a while, and notes how many it has at once. */
function slow(ms: number, opened = Promise.resolve()) {
  const seen = { underWay: 0, most: 0, got: [] as string[] }
  const transport: Transport = {
    kind: 'scripted',
    signs: true,
    takesMarketing: true,
    concurrency: 10,
    send: async ({ recipient, raw }) => {
      seen.got.push(recipient)
      if (raw.length < 1_000_000) return { kind: 'accepted', upstreamId: null, response: '250 ok' }
      seen.most = Math.max(seen.most, ++seen.underWay)
      await opened
      await sleep(ms)
      seen.underWay--
      return { kind: 'accepted', upstreamId: null, response: '250 ok' }
    },
    verify: async () => {},
    close: async () => {},
  }
  return { seen, transport }
}

// As little as possible in the database.
const content = Buffer.alloc(1_200_000, 'a').toString('base64')

async function send(key: string, to: string, more: object = {}): Promise<void> {
  const body = { from: 'shop@example.com', to, subject: 'Hello', text: 'Hi.', ...more }
  assert.equal((await app.call('POST', '/api/v1/transactional/send', { key, body })).status, 202)
}

const sendLarge = async (count: number) => {
  for (let n = 0; n < count; n++)
    await send(app.key, `large${n}@example.com`, { attachments: [{ filename: 'a.txt', content }] })
}

const sent = () => db.run(sql`select 1 from messages where account_id = ${app.accountId} and status = 'sent'`)

test('four at a time, and the small ones of another account pass them', async () => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const { seen, transport } = slow(50, opened)
  const other = await app.makeAccount()
  await sendLarge(12)
  const stop = deliverThrough({ db, transport })
  await until(async () => seen.underWay === 4, 'four to be under way')
  await send(other.key, 'small@example.com')
  await until(async () => seen.got.includes('small@example.com'), 'the small one to leave')
  assert.equal(seen.got.length, 5)
  open()
  await until(async () => (await sent()) === 12, 'all to be sent')
  assert.equal(seen.most, 4)
  assert.equal(new Set(seen.got).size, 13)
  await stop()
})

test('more of them than a process takes at once are passed as well', async () => {
  const { seen, transport } = slow(1_000)
  const [many, other] = [await app.makeAccount(), await app.makeAccount()]
  for (let n = 0; n < 5; n++) {
    const to = Array.from({ length: 99 }, (_, i) => ({ email: `many${n}-${i}@example.com` }))
    const body = { sender: { email: 'shop@example.com' }, to, subject: 'Hello', textContent: 'Hi.' }
    const sendMany = { key: many.key, body: { ...body, attachment: [{ name: 'a.txt', content }] } }
    assert.equal((await app.call('POST', '/v3/smtp/email', sendMany)).status, 201)
  }
  const stop = deliverThrough({ db, transport })
  await until(async () => seen.underWay === 4, 'four to be under way')
  await until(async () => seen.got.length > 6, 'others to follow')
  const before = seen.got.length
  await send(other.key, 'late@example.com')
  await until(async () => seen.got.includes('late@example.com'), 'the small one to leave')
  assert.ok(seen.got.length - before < 13, `${seen.got.length - before} before it`)
  await stop()
  await db.run(sql`delete from delivery_queue where account_id = ${many.accountId}`)
})

test('those that wait when the engine is stopped are not sent any more, nor counted as tried', async () => {
  const { seen, transport } = slow(300)
  await sendLarge(9)
  const before = await sent()
  const stop = deliverThrough({ db, transport })
  await until(async () => seen.underWay === 4, 'four to be under way')
  await stop()
  assert.equal(seen.got.length, 4)
  assert.equal((await sent()) - before, 4)
  assert.equal(
    await db.run(sql`select 1 from delivery_queue where attempts = 0 and due_at <= clock_timestamp()`),
    5,
  )
})

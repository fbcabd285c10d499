import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import PostalMime from 'postal-mime'
import { makeApp } from '../../../../test/app.ts'
import { quickest } from '../../../../test/quickest.ts'
import { until } from '../../../../test/until.ts'
import { startJobs } from '../../../kernel/job.ts'
import { silentLog } from '../../../kernel/log.ts'
import type { Handover, Outcome, Transport } from '../../../kernel/ports.ts'
import { sql } from '../../../kernel/sql.ts'
import { unsubscribeKeysOf } from '../../contacts/unsubscribe/tokens.ts'
import { captureTransport } from '../../messages/capture.ts'
import { startDelivery } from '../../messages/deliver.ts'
import { campaignMail } from './campaign-mail.ts'
import { cancel, makeCampaign, makeList, pause, progress, resume } from './fixtures/campaigns.ts'
import { campaignJobs } from './jobs.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools
const keys = unsubscribeKeysOf([randomBytes(32)])

type Taken = Handover & { at: number }

/** An upstream that takes its time, and remembers. */
const taken: Taken[] = []
let takesMs = 0
/** As long as it is there, no campaign's message is answered. */
let unanswered: Promise<void> | undefined
const transport: Transport = {
  kind: 'scripted',
  signs: true,
  takesMarketing: true,
  concurrency: 8,
  send: async (handover): Promise<Outcome> => {
    taken.push({ ...handover, at: performance.now() })
    if (takesMs > 0) await sleep(takesMs)
    if (handover.stream === 'marketing') await unanswered
    if (handover.recipient.startsWith('refused'))
      return { kind: 'rejected', smtpCode: 554, enhancedCode: '5.7.1', message: '554 5.7.1 No' }
    return { kind: 'accepted', upstreamId: null, response: '250 ok' }
  },
  verify: async () => {},
  close: async () => {},
}

/** Until what it gives is called. */
function holdAnswers(): () => void {
  let answer = () => {}
  unanswered = new Promise((resolve) => {
    answer = resolve
  })
  return () => {
    unanswered = undefined
    answer()
  }
}

type Listed = { to: string; last_error: { code: string } | null }

const now = () => new Date()
const engine = startDelivery({
  db,
  log: silentLog,
  now,
  transport,
  capture: captureTransport(db, now),
  retryFactor: 0.01,
  leaseSeconds: 60,
  findDkimKeys: async () => [],
  trackingOf: () => ({}),
  campaigns: campaignMail({ db, now, unsubscribeKeys: async () => keys, baseUrl: 'https://mail.test' }),
})
const fetched: string[] = []
const fetchAttachment = async (url: string) => {
  fetched.push(url)
  return Buffer.from('the programme')
}
const needs = { log: silentLog, now, wake: engine.wake, fetchAttachment }
const jobs = startJobs(campaignJobs(needs), { db, log: silentLog, now })
after(async () => {
  await jobs.stop()
  await engine.stop()
})

async function start(count: number, prefix: string, more = {}) {
  const { accountId, key } = await app.makeAccount()
  const me = { accountId, keyId: (await app.makeKey({}, accountId)).id }
  const emails = Array.from({ length: count }, (_, i) => `${prefix}${i}@example.org`)
  const recipients = {
    listIds: [await makeList(db, me, emails), await makeList(db, me, emails.slice(0, 10))],
  }
  const id = await makeCampaign(db, me, { recipients, ...more })
  const got = () => taken.filter(({ recipient }) => recipient.startsWith(prefix))
  return { id, key, accountId, got }
}

let urgentCount = 0

/** Sends a transactional message, and waits until the upstream has it. */
async function sendUrgent(key: string): Promise<void> {
  const to = `urgent${urgentCount++}@example.com`
  const body = { from: 'shop@example.com', to, subject: 'Code', text: '123' }
  const { status } = await app.call('POST', '/api/v1/transactional/send', { key, body })
  assert.equal(status, 202)
  // As the service does after each send.
  engine.wake()
  await until(async () => taken.some(({ recipient }) => recipient === to), `the message to ${to}`)
}

const reaches = (id: string, status: string) =>
  until(async () => {
    const found = await progress(db, id)
    if (found.total !== null) assert.equal(found.sum, found.total)
    return found.status === status && found
  }, `campaign ${id} to be ${status}`)

describe('a running campaign', () => {
  test('reaches everybody once, each with their own message', async () => {
    const { id, got, key } = await start(300, 'all')
    const { counts, total } = await reaches(id, 'sent')
    assert.deepEqual([counts, total], [{ sent: 300 }, 300])
    assert.equal(new Set(got().map(({ recipient }) => recipient)).size, 300)
    assert.equal(got().length, 300)
    const one = got().find(({ recipient }) => recipient === 'all7@example.org')
    const mail = await PostalMime.parse(one?.raw ?? Buffer.alloc(0))
    assert.deepEqual([mail.subject, mail.from?.address], ['News for all7', 'news@shop.example'])
    const { body: kept } = await app.call('GET', '/api/v1/messages?to=all7@example.org', { key })
    assert.equal(kept.data[0].subject, 'News for all7')
    assert.match(mail.html ?? '', /Hello all7,/)
    assert.match(
      mail.text ?? '',
      /^Hello all7, look \[https:\/\/example\.com\/\]\s+Unsubscribe \[https:\/\/mail\.test\/u\//,
    )
    const names = mail.headers.map(({ key }) => key)
    for (const name of ['list-unsubscribe', 'list-unsubscribe-post', 'list-id', 'feedback-id'])
      assert.ok(names.includes(name), name)
  })

  test('tells the calculated attributes of a contact, and its number', async () => {
    const { accountId, key } = await app.makeAccount()
    const me = { accountId, keyId: (await app.makeKey({}, accountId)).id }
    const ask = (method: string, path: string, body: object) => app.call(method, path, { key, body })
    await ask('POST', '/v3/contacts/attributes/normal/POINTS', { type: 'float' })
    await ask('POST', '/v3/contacts/attributes/calculated/TWICE', { value: 'POINTS*2' })
    const recipients = { listIds: [await makeList(db, me, ['calc@example.org'])] }
    const attributes = { POINTS: 7, SMS: '+33612345678' }
    assert.equal((await ask('PUT', '/v3/contacts/calc@example.org', { attributes })).status, 204)
    const html = '<p>{{ contact.TWICE }} {{ contact.SMS }}</p>'
    await reaches(await makeCampaign(db, me, { recipients, html }), 'sent')
    const one = taken.find(({ recipient }) => recipient === 'calc@example.org')
    assert.match((await PostalMime.parse(one?.raw ?? Buffer.alloc(0))).html ?? '', /<p>14 33612345678<\/p>/)
  })

  test('keeps what the subject became also of a message that was refused', async () => {
    const { id, key } = await start(1, 'refused')
    const { counts } = await reaches(id, 'sent')
    assert.deepEqual(counts, { failed: 1 })
    const { body: kept } = await app.call('GET', '/api/v1/messages?to=refused0@example.org', { key })
    assert.equal(kept.data[0].subject, 'News for refused0')
  })

  test('carries its file, which is fetched once', async () => {
    const attachmentUrl = 'https://files.example/programme.pdf'
    const { id, got } = await start(40, 'file', { extras: { attachmentUrl } })
    await reaches(id, 'sent')
    assert.deepEqual(fetched, [attachmentUrl])
    for (const { raw } of got()) {
      const { attachments } = await PostalMime.parse(raw)
      const [file] = attachments
      assert.deepEqual(
        [attachments.length, file?.filename, file?.mimeType],
        [1, 'programme.pdf', 'application/pdf'],
      )
      assert.equal(Buffer.from(file?.content as ArrayBuffer).toString(), 'the programme')
    }
    assert.equal(got().length, 40)
  })

  test('stops within a second of a pause, and resume sends the rest, nothing twice', async () => {
    takesMs = 20
    const { id, got } = await start(1_200, 'stop')
    await until(async () => got().length > 150, 'some to be sent')
    const pausedAt = performance.now()
    await pause(db, id)
    const held = await until(async () => {
      const { counts, sum, total } = await progress(db, id)
      assert.equal(sum, total)
      return !counts.queued && counts
    }, 'the rest to be held')
    await sleep(1_200)
    assert.ok(Math.max(...got().map(({ at }) => at)) - pausedAt < 1_000, 'handed over after a second')
    assert.deepEqual([got().length + (held.held ?? 0), held.sent], [1_200, got().length])
    takesMs = 0
    await resume(db, id)
    assert.deepEqual((await reaches(id, 'sent')).counts, { sent: 1_200 })
    assert.deepEqual([got().length, new Set(got().map(({ recipient }) => recipient)).size], [1_200, 1_200])
  })

  test('does not delay a transactional message', async () => {
    takesMs = 20
    const { id, key, got } = await start(2_000, 'bulk')
    await until(async () => got().length > 0, 'it to begin')
    const took = await quickest(1_000, () => sendUrgent(key))
    assert.ok(took < 1_000, `${took} ms`)
    assert.ok(got().length < 2_000, 'it was over')
    takesMs = 0
    await cancel(db, id)
    await until(async () => !(await progress(db, id)).counts.queued, 'the rest to be cancelled')
    const { counts, sum, total } = await progress(db, id)
    assert.deepEqual([(counts.sent ?? 0) + (counts.cancelled ?? 0), sum], [2_000, total])
  })

  test('takes no slot of a transactional message, though the upstream answers none of its own', async () => {
    const answer = holdAnswers()
    const { id, key, got } = await start(100, 'stuck')
    await until(async () => got().length === transport.concurrency, 'every slot to be taken')
    await sendUrgent(key)
    assert.equal(got().length, transport.concurrency)
    answer()
    await reaches(id, 'sent')
  })

  test('leaves out who unsubscribed after it had started', async () => {
    takesMs = 20
    const { id, got, accountId } = await start(500, 'left')
    await until(async () => got().length > 0, 'it to begin')
    await db.run(sql`
      update contacts set status = 'unsubscribed'
       where account_id = ${accountId} and email = 'left499@example.org'`)
    assert.deepEqual((await reaches(id, 'sent')).counts, { sent: 499, suppressed: 1 })
    assert.equal(got().length, 499)
    takesMs = 0
  })

  /** Takes the last two of 500 away from their addresses: one is deleted, one moves and is blocked there. */
  async function takeAway(prefix: string, key: string) {
    const change = async (method: string, name: string, body?: object) =>
      assert.equal((await app.call(method, `/v3/contacts/${name}@example.org`, { key, body })).status, 204)
    await change('DELETE', `${prefix}499`)
    await change('PUT', `${prefix}498`, { attributes: { EMAIL: `${prefix}new@example.org` } })
    await change('PUT', `${prefix}new`, { emailBlacklisted: true })
  }

  for (const [prefix, isPaused] of [
    ['gone', true],
    ['going', false],
  ] as const)
    test(`leaves out who is no contact any more, ${isPaused ? 'held' : 'queued'} meanwhile`, async () => {
      const answer = holdAnswers()
      const { id, got, key } = await start(500, prefix)
      await until(async () => got().length === transport.concurrency, 'every slot to be taken')
      if (isPaused) await pause(db, id)
      if (!isPaused) await takeAway(prefix, key)
      answer()
      if (isPaused) {
        await until(async () => !(await progress(db, id)).counts.queued, 'the rest to be held')
        await takeAway(prefix, key)
        await resume(db, id)
      }
      const { counts, kept } = await reaches(id, 'sent')
      const expected = { sent: 498, cancelled: 2 }
      assert.deepEqual([counts, kept, got().length], [expected, expected, 498])
      const { body } = await app.call('GET', '/api/v1/messages?status=cancelled', { key })
      const told = body.data.map((one: Listed) => `${one.to} ${one.last_error?.code}`)
      assert.deepEqual(
        told.sort(),
        [498, 499].map((n) => `${prefix}${n}@example.org contact_gone`),
      )
    })

  test('is interrupted as a whole where the upstream takes no marketing mail, and goes on where it does', async () => {
    transport.takesMarketing = false
    const { id, got } = await start(50, 'forbidden')
    const { held_reason, total } = await reaches(id, 'suspended')
    assert.match(
      held_reason ?? '',
      /^The upstream takes transactional mail only: .* Then resume the campaign\.$/,
    )
    assert.deepEqual([total, got().length], [50, 0])
    // Whatever is still claimed would stop it again.
    await until(async () => !(await progress(db, id)).counts.queued, 'all of it to be held')
    transport.takesMarketing = true
    await resume(db, id)
    assert.deepEqual((await reaches(id, 'sent')).counts, { sent: 50 })
  })

  test('whose template cannot be rendered fails, and does not come back for ever', async () => {
    const { id } = await start(3, 'broken', { html: '<p>{% if %}</p>' })
    assert.deepEqual((await reaches(id, 'sent')).counts, { failed: 3 })
  })

  test('goes to nobody who would see no way out', async () => {
    const html = '<p>Hi</p>{% if contact.FIRSTNAME == "hidden1" %}<style>{% endif %}'
    const { id } = await start(3, 'hidden', { html })
    assert.deepEqual((await reaches(id, 'sent')).counts, { sent: 2, failed: 1 })
  })
})

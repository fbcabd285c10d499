// Amazon: hand-over, what it refuses, what it reports.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startAwsSms } from '../../../test/stand-ins/aws-sms.ts'
import { until } from '../../../test/until.ts'
import { makeSnsStandIn } from '../../adapters/ses/sns-stand-in.ts'
import { accepted, makeSmsApp } from './fixtures/app.ts'

const upstream = await startAwsSms()
after(() => upstream.close())
const sns = await makeSnsStandIn('posthorn-sms')
const app = await makeSmsApp({
  sms: true,
  hookClient: {
    request: async () => ({ status: 200, headers: {}, body: Buffer.from(sns.certificate) }),
  },
  env: {
    POSTHORN_SMS_TRANSPORT: 'sns://eu-west-3?configuration-set=posthorn',
    POSTHORN_AWS_ENDPOINT: upstream.endpoint,
    AWS_ACCESS_KEY_ID: 'AKIATEST',
    AWS_SECRET_ACCESS_KEY: 'secret',
    POSTHORN_SNS_TOPICS: sns.topicArn,
    POSTHORN_RETRY_FACTOR: '0.001',
  },
})
const { send } = app
const second = 1000

const tell = (message: object, raw?: string) =>
  app.call('POST', '/hooks/sns-sms', {
    key: null,
    raw: raw ?? sns.notification(JSON.stringify(message), { at: app.clock.at }),
    headers: { 'content-type': 'text/plain; charset=UTF-8' },
  })

const statusEvent = (eventType: string, messageId: string, context = {}) => ({
  eventType,
  eventVersion: '1.0',
  eventTimestamp: app.clock.at.getTime(),
  isFinal: true,
  destinationPhoneNumber: '+33612345678',
  messageId,
  messageStatusDescription: 'As the carrier says',
  context,
})

const lastSent = () => upstream.sent.at(-1)

async function sentOne(body: object = {}, key = app.key) {
  const id = accepted(await send(body, key))
  const { upstream_id } = await app.becomes(id, 'sent')
  return { id, upstreamId: upstream_id ?? '' }
}

describe('hand-over', () => {
  test('a transactional SMS goes with its type and our identifier, and without an end', async () => {
    const { id, upstreamId } = await sentOne()
    assert.deepEqual(lastSent(), {
      messageId: upstreamId,
      DestinationPhoneNumber: '+33612345678',
      OriginationIdentity: 'MyShop',
      MessageBody: 'Hello',
      MessageType: 'TRANSACTIONAL',
      ConfigurationSetName: 'posthorn',
      Context: { posthorn_message: String(id) },
    })
    assert.deepEqual(await app.eventsOf(id), ['sent'])
  })

  test('a marketing one lives no longer than the window is open', async () => {
    const before = app.clock.at
    app.clock.at = new Date('2026-11-16T18:58:30.000Z')
    await sentOne({ type: 'marketing' })
    assert.deepEqual([lastSent()?.MessageType, lastSent()?.TimeToLive], ['PROMOTIONAL', 90])
    assert.match(lastSent()?.MessageBody ?? '', /STOP 36111$/)
    app.clock.at = before
  })

  test('one of a test key is captured', async () => {
    const { key } = await app.makeKey({ mode: 'test' })
    const count = upstream.sent.length
    await app.becomes(accepted(await send({}, key)), 'delivered')
    assert.equal(upstream.sent.length, count)
  })
})

describe('what it refuses', () => {
  test('throttling is tried again and counts as no try', async () => {
    upstream.fail({ status: 400, name: 'ThrottlingException' })
    const id = accepted(await send())
    await until(async () => (await app.find(id)).last_error !== null, 'a refusal')
    app.move(60 * second)
    assert.equal((await app.becomes(id, 'sent')).attempts, 1)
  })

  test('a stumble is tried again by the schedule and counts', async () => {
    upstream.fail(
      { status: 500, name: 'InternalServerException' },
      { status: 500, name: 'InternalServerException' },
    )
    const id = accepted(await send())
    for (const attempts of [1, 2]) {
      await until(async () => {
        const found = await app.find(id)
        // Not the end of the lease any more.
        const wait = (found.due_at?.getTime() ?? 0) - app.clock.at.getTime()
        return found.attempts === attempts && wait > 0 && wait < 10 * second
      }, `refusal ${attempts}`)
      app.move(60 * second)
    }
    assert.equal((await app.becomes(id, 'sent')).attempts, 3)
  })

  test('a number that opted out there is final, and opted out here', async () => {
    const { key } = await app.makeAccount()
    upstream.fail({ status: 400, name: 'ConflictException', reason: 'DESTINATION_PHONE_NUMBER_OPTED_OUT' })
    const id = accepted(await send({ recipient: '+33612345601' }, key))
    await app.becomes(id, 'failed')
    assert.deepEqual(await app.eventsOf(id), ['blocked'])
    assert.equal((await send({ recipient: '+33612345601' }, key)).status, 422)
    await sentOne({ recipient: '+33612345601' })
  })

  test('the spend limit stops nobody for good', async () => {
    upstream.fail({ status: 402, name: 'ServiceQuotaExceededException' })
    const id = accepted(await send())
    await until(async () => (await app.find(id)).last_error?.includes('Quota'), 'a refusal')
    app.move(60 * second)
    await app.becomes(id, 'sent')
  })

  test('what it does not understand is final', async () => {
    upstream.fail({ status: 400, name: 'ValidationException', message: 'Nonsense' })
    const id = accepted(await send())
    assert.match((await app.becomes(id, 'failed')).last_error ?? '', /Nonsense/)
    assert.deepEqual(await app.eventsOf(id), ['rejected'])
  })

  test('an answer that never came leaves time for its report, which settles it', async () => {
    upstream.fail('drop')
    const id = accepted(await send())
    await until(async () => (await app.find(id)).last_error !== null, 'a lost answer')
    const context = { posthorn_message: String(id) }
    const { messageId = '' } = lastSent() ?? {}
    assert.equal((await tell(statusEvent('TEXT_SENT', messageId, context))).status, 200)
    assert.equal((await app.becomes(id, 'sent')).upstream_id, messageId)
    const count = upstream.sent.length
    app.move(3600 * second)
    await sentOne()
    assert.equal(upstream.sent.length, count + 1, 'it was sent again')
  })
})

describe('reports', () => {
  const outcomes: [string, string, string[]][] = [
    ['TEXT_SUCCESSFUL', 'sent', ['sent', 'accepted']],
    ['TEXT_DELIVERED', 'delivered', ['sent', 'delivered']],
    ['TEXT_INVALID', 'failed', ['sent', 'hard_bounce']],
    ['TEXT_UNREACHABLE', 'failed', ['sent', 'soft_bounce']],
    ['TEXT_TTL_EXPIRED', 'failed', ['sent', 'soft_bounce']],
    ['TEXT_SPAM', 'failed', ['sent', 'rejected']],
    ['TEXT_PENDING', 'sent', ['sent']],
  ]
  for (const [event, status, events] of outcomes)
    test(`${event}: ${status}`, async () => {
      const { id, upstreamId } = await sentOne()
      app.move(second)
      for (const _ of [1, 2]) assert.equal((await tell(statusEvent(event, upstreamId))).status, 200)
      assert.equal((await app.find(id)).status, status)
      assert.deepEqual(await app.eventsOf(id), events)
    })

  test('delivered stays delivered', async () => {
    const { id, upstreamId } = await sentOne()
    await tell(statusEvent('TEXT_DELIVERED', upstreamId))
    await tell(statusEvent('TEXT_UNKNOWN', upstreamId))
    assert.equal((await app.find(id)).status, 'delivered')
  })

  test('what is about nobody, or says nothing, is passed over', async () => {
    const nothing = [
      statusEvent('TEXT_DELIVERED', 'unknown'),
      statusEvent('TEXT_DELIVERED', 'unknown', { posthorn_message: '9'.repeat(30) }),
      statusEvent('VOICE_COMPLETED', 'x'),
      {},
    ]
    for (const message of nothing) assert.equal((await tell(message)).status, 200)
  })

  test('what is not signed by Amazon for our topic is refused', async () => {
    const { upstreamId, id } = await sentOne()
    const message = JSON.stringify(statusEvent('TEXT_DELIVERED', upstreamId))
    const forged = JSON.parse(sns.notification('{}', { at: app.clock.at }))
    assert.equal((await tell({}, JSON.stringify({ ...forged, Message: message }))).status, 403)
    const other = await makeSnsStandIn('another')
    assert.equal((await tell({}, other.notification(message, { at: app.clock.at }))).status, 403)
    assert.equal((await tell({}, 'x')).status, 400)
    assert.equal((await tell({}, sns.notification('no json', { at: app.clock.at }))).status, 400)
    assert.equal((await app.find(id)).status, 'sent')
  })
})

describe('answers', () => {
  const answer = (originationNumber: string, messageBody: string, more = {}) =>
    tell({
      originationNumber,
      destinationNumber: '+33700000000',
      messageBody,
      inboundMessageId: String(Math.random()),
      ...more,
    })

  test('STOP takes the number off for the account that wrote last, and no other', async () => {
    const [one, other] = [await app.makeAccount(), await app.makeAccount()]
    const recipient = '+33612345602'
    await sentOne({ recipient }, other.key)
    const { id } = await sentOne({ recipient }, one.key)
    await app.call('POST', '/v3/contacts', {
      key: one.key,
      body: { email: 'ann@example.com', attributes: { SMS: recipient } },
    })
    app.move(second)
    assert.equal((await answer(recipient, ' Arrêt ')).status, 200)
    assert.deepEqual(await app.eventsOf(id), ['sent', 'replied', 'unsubscribed'])
    assert.equal((await send({ recipient }, one.key)).status, 422)
    assert.equal((await send({ recipient }, other.key)).status, 201)
    const contact = await app.call('GET', '/v3/contacts/ann@example.com', { key: one.key })
    assert.equal(contact.body.smsBlacklisted, true)
    await app.call('PUT', '/v3/contacts/ann@example.com', { key: one.key, body: { smsBlacklisted: false } })
    assert.equal((await send({ recipient }, one.key)).status, 201)
  })

  test('STOP to one whose answer was lost counts, and it is not sent again; nor others before it', async () => {
    const [{ key }, before] = [await app.makeAccount(), await app.makeAccount()]
    const recipient = '+33612345606'
    const sent = await sentOne({ recipient }, before.key)
    upstream.fail('drop')
    const id = accepted(await send({ recipient }, key))
    await until(async () => (await app.find(id)).last_error !== null, 'a lost answer')
    const count = upstream.sent.length
    assert.equal((await answer(recipient, 'STOP')).status, 200)
    for (const one of [key, before.key]) assert.equal((await send({ recipient }, one)).status, 422)
    assert.deepEqual(await app.eventsOf(sent.id), ['sent', 'unsubscribed'])
    app.move(3600 * second)
    await app.becomes(id, 'suppressed')
    assert.equal(upstream.sent.length, count)
  })

  test('a contact made later shows that its number said STOP, and can be allowed again', async () => {
    const { key } = await app.makeAccount()
    const recipient = '+33612345604'
    await sentOne({ recipient }, key)
    await answer(recipient, 'STOP')
    const contact = (method: string, path: string, body?: object) =>
      app.call(method, `/v3/contacts${path}`, { key, body })
    await contact('POST', '', { email: 'new@example.com', attributes: { SMS: recipient } })
    assert.equal((await contact('GET', '/new@example.com')).body.smsBlacklisted, true)
    await contact('PUT', '/new@example.com', { smsBlacklisted: false })
    assert.equal((await contact('GET', '/new@example.com')).body.smsBlacklisted, false)
    assert.equal((await send({ recipient }, key)).status, 201)
  })

  test('an answer names the SMS that it answers, and may say anything', async () => {
    const recipient = '+33612345603'
    const first = await sentOne({ recipient })
    await sentOne({ recipient })
    await answer(recipient, 'Merci', { previousPublishedMessageId: first.upstreamId })
    assert.deepEqual(await app.eventsOf(first.id), ['sent', 'replied'])
    assert.equal((await send({ recipient })).status, 201)
    for (const from of ['+33699999999', 'x']) assert.equal((await answer(from, 'STOP')).status, 200)
  })
})

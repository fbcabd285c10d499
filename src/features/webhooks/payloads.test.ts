// What each event tells, field by field.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { verdict } from '../messages/bounces/classes.ts'
import { recordBounce, recordEvent } from '../messages/record-event.ts'
import { type Got, openReceiver, verify } from './fixtures/receiver.ts'

const app = await makeApp({
  deliver: true,
  webhooks: true,
  env: {
    POSTHORN_WEBHOOK_ALLOW_PRIVATE: 'true',
    POSTHORN_RETRY_FACTOR: '0.001',
    POSTHORN_RATE_LIMIT_FACTOR: '100',
  },
})

const everything = {
  transactional: [
    'sent',
    'delivered',
    'hardBounce',
    'softBounce',
    'blocked',
    'spam',
    'invalid',
    'deferred',
    'click',
    'opened',
    'uniqueOpened',
    'unsubscribed',
  ],
}

async function makeWebhook(key: string, url: string, more: object = {}) {
  const body = { url, events: everything.transactional, ...more }
  const reply = await app.call('POST', '/v3/webhooks', { key, body })
  assert.equal(reply.status, 201, reply.text)
  return reply.body as { id: number; secret: string }
}

const send = async (key: string, to: string, more: object = {}) => {
  const body = {
    sender: { email: 'shop@example.com' },
    to: [{ email: to }],
    subject: 'Your order',
    htmlContent: '<p>Hi <a href="https://shop.example/order">order</a></p>',
    ...more,
  }
  const reply = await app.call('POST', '/v3/smtp/email', { key, body })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.messageId as string
}

async function uuidOf(accountId: string, email: string): Promise<string> {
  const Id = row<{ id: string }>({ id: text })
  const found = await app.pools.db.one(
    Id,
    sql`select id from messages where account_id = ${accountId} and recipient = ${email}`,
  )
  return found.id
}

const simulator = (act: string) => `${act}@simulator.posthorn.test`

/** What a call says of its time, checked and taken away. */
function timeless(body: Record<string, unknown>): Record<string, unknown> {
  const { date, ts, ts_event, ts_epoch, ...rest } = body
  const at = new Date(typeof ts_epoch === 'number' ? ts_epoch : Number(ts) * 1000)
  const parts = new Intl.DateTimeFormat('sv-SE', {
    timeZone: 'Europe/Paris',
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  assert.equal(date, parts.format(at))
  assert.deepEqual([ts, ts_event ?? ts], [Math.floor(at.getTime() / 1000), ts])
  return rest
}

test('a message that is delivered, opened and clicked', async () => {
  const { key } = await app.makeAccount()
  const receiver = await openReceiver()
  const { id, secret } = await makeWebhook(key, receiver.url)
  const email = simulator('click')
  await app.call('POST', '/v3/contacts', { key, body: { email } })
  const contact = (await app.call('GET', `/v3/contacts/${email}`, { key })).body
  const headers = { 'X-Mailin-custom': 'order:7' }
  const messageId = await send(key, email, { tags: ['orders', 'shop'], headers })
  const common = {
    id,
    email,
    'message-id': messageId,
    'X-Mailin-custom': 'order:7',
    subject: 'Your order',
    tags: ['orders', 'shop'],
    tag: '["orders","shop"]',
    sender_email: 'shop@example.com',
    contact_id: contact.id,
    sending_ip: '',
  }
  const click = await receiver.call('click')
  const [request, delivered, opened] = receiver.got
  const { mirror_link } = click.body
  const page = await app.call('GET', mirror_link.replace('http://test', ''), { key: null })
  assert.ok(page.text.includes('https://shop.example/order'), page.text)
  assert.deepEqual(timeless(request?.body), { ...common, event: 'request', mirror_link })
  assert.deepEqual(timeless(delivered?.body), { ...common, event: 'delivered' })
  const visit = {
    user_agent: opened?.body.user_agent,
    device_used: 'DESKTOP',
    mirror_link,
    classification: 'human',
  }
  assert.match(visit.user_agent, /Mozilla/)
  assert.deepEqual(timeless(opened?.body), { ...common, ...visit, event: 'unique_opened' })
  assert.deepEqual(timeless(click.body), {
    ...common,
    ...visit,
    event: 'click',
    link: 'https://shop.example/order',
  })
  assert.equal(receiver.got.length, 4)
  for (const got of receiver.got) {
    verify(secret, got)
    assert.match(String(got.headers['webhook-id']), /^whd_[0-9a-f]{32}$/)
    assert.equal(got.headers['content-type'], 'application/json')
  }
})

test('bounces, deferrals, complaints, proxies and robots', async () => {
  const { key } = await app.makeAccount()
  const receiver = await openReceiver()
  const { id } = await makeWebhook(key, receiver.url)
  const told = async (act: string, event: string) => {
    const messageId = await send(key, simulator(act))
    const got = await until(
      async () => receiver.got.find(({ body }) => body.event === event && body['message-id'] === messageId),
      `${event} of ${act}`,
    )
    const common = {
      id,
      event,
      email: simulator(act),
      'message-id': messageId,
      subject: 'Your order',
      sender_email: 'shop@example.com',
      contact_id: 0,
      sending_ip: '',
    }
    return { common, body: timeless(got.body) }
  }
  for (const [act, event] of [
    ['hard-bounce', 'hard_bounce'],
    ['soft-bounce', 'soft_bounce'],
    ['defer', 'deferred'],
  ] as const) {
    const { common, body } = await told(act, event)
    assert.ok(typeof body.reason === 'string' && body.reason !== '')
    assert.deepEqual(body, { ...common, reason: body.reason })
  }
  const spam = await told('complaint', 'spam')
  const { id: _, event, email, 'message-id': messageId } = spam.common
  assert.deepEqual(spam.body, { id, event, email, 'message-id': messageId })
  const proxy = await told('proxy', 'unique_proxy_open')
  const visit = { user_agent: 'Mozilla/5.0', device_used: 'DESKTOP', mirror_link: proxy.body.mirror_link }
  assert.deepEqual(proxy.body, { ...proxy.common, ...visit, classification: 'privacy_proxy', link: '' })
  const robot = await told('robot', 'opened')
  const { mirror_link } = robot.body
  const scanner = { ...visit, user_agent: 'python-requests/2.32', classification: 'robot', mirror_link }
  assert.deepEqual(robot.body, { ...robot.common, ...scanner })
})

test('a suppressed recipient, an address that cannot exist, an unsubscription, a template', async () => {
  const { accountId, key } = await app.makeAccount()
  const receiver = await openReceiver()
  const { id } = await makeWebhook(key, receiver.url)
  await app.call('POST', '/api/v1/suppressions', { key, body: { email: 'gone@example.com' } })
  await app.call('PUT', '/api/v1/settings', { key, body: { provider_compatibility: true } })
  const template = {
    templateName: 'Welcome',
    subject: 'Welcome',
    sender: { email: 'shop@example.com' },
    htmlContent: '<p>Hello</p>',
    isActive: true,
  }
  const { body: made } = await app.call('POST', '/v3/smtp/templates', { key, body: template })
  const templateId: number = made.id
  const common = { id, sender_email: 'shop@example.com', contact_id: 0 }

  const blockedId = await send(key, 'gone@example.com')
  const blocked = {
    event: 'blocked',
    email: 'gone@example.com',
    'message-id': blockedId,
    subject: 'Your order',
  }
  const first = await receiver.call('blocked')
  assert.deepEqual(timeless(first.body), { ...common, ...blocked, reason: 'manual' })

  const to = [{ email: 'anna@example.com' }]
  const { body: welcome } = await app.call('POST', '/v3/smtp/email', { key, body: { templateId, to } })
  const named = {
    'message-id': welcome.messageId,
    subject: 'Welcome',
    template_id: templateId,
    tag: 'Welcome',
  }
  const request = await until(
    async () => receiver.got.find(({ body }) => body.event === 'request' && body.email !== blocked.email),
    'the request',
  )
  // Accepted, and so told of, although it goes nowhere.
  assert.equal(receiver.got[0]?.body.email, blocked.email)
  assert.equal(receiver.got[0]?.body.event, 'request')
  assert.ok(receiver.got[0]?.body.ts_epoch <= first.body.ts_epoch, 'what came first has the earlier time')
  const about = { ...common, email: 'anna@example.com', ...named, sending_ip: '' }
  const { mirror_link } = request.body
  assert.deepEqual(timeless(request.body), { ...about, event: 'request', mirror_link })

  const told = {
    id: await uuidOf(accountId, 'anna@example.com'),
    accountId,
    recipient: 'anna@example.com',
    at: new Date(),
  }
  await recordEvent(app.pools.db, told, 'unsubscribe', { scope: 'all' })
  const left = { event: 'unsubscribed', user_agent: '', device_used: 'UNKNOWN', mirror_link }
  assert.deepEqual(timeless((await receiver.call('unsubscribed')).body), { ...about, ...left })

  const said = { smtpCode: 550, enhancedCode: '5.1.3', message: 'bad syntax' }
  await recordBounce(app.pools.db, told, said, verdict('bad_address', true))
  const { sending_ip: _, ...refused } = about
  const invalid = { event: 'invalid_email', reason: '550 5.1.3 bad syntax' }
  assert.deepEqual(timeless((await receiver.call('invalid_email')).body), { ...refused, ...invalid })
})

test('a tag of a header is told as it stands', async () => {
  const { key } = await app.makeAccount()
  const receiver = await openReceiver()
  await makeWebhook(key, receiver.url)
  await send(key, simulator('click'), { headers: { 'X-Mailin-Tag': 'hdrtag' } })
  const { body } = await receiver.call('click')
  assert.deepEqual([body.tag, body.tags, body.metadata], ['hdrtag', ['hdrtag'], undefined])
})

test('metadata comes back under its name; a webhook gets only what it asks for, and opened is every open', async () => {
  const { accountId, key } = await app.makeAccount()
  const [all, first, both] = [await openReceiver(), await openReceiver(), await openReceiver()]
  await makeWebhook(key, all.url, { events: ['opened'] })
  await makeWebhook(key, first.url, { events: ['uniqueOpened'] })
  await makeWebhook(key, both.url, { events: ['opened', 'uniqueOpened', 'hardBounce'] })
  const body = {
    from: 'shop@example.com',
    to: 'eva@example.com',
    subject: 'x',
    text: 'x',
    metadata: { order: '7' },
  }
  await app.call('POST', '/api/v1/transactional/send', { key, body })
  const id = await uuidOf(accountId, 'eva@example.com')
  const told = { id, accountId, recipient: 'eva@example.com', at: new Date() }
  for (let n = 0; n < 3; n++)
    await recordEvent(app.pools.db, told, 'open', { user_agent: 'Mail', classification: 'human' })
  await recordBounce(
    app.pools.db,
    told,
    { smtpCode: 550, enhancedCode: '5.1.2', message: 'no host' },
    verdict('unknown_host', true),
  )
  const words = ({ got }: { got: Got[] }) => got.map((one) => one.body.event)
  await both.calls(4)
  await all.calls(3)
  await first.calls(1)
  assert.deepEqual(words(all), ['opened', 'opened', 'opened'])
  assert.deepEqual(words(first), ['unique_opened'])
  assert.deepEqual(words(both), ['unique_opened', 'opened', 'opened', 'hard_bounce'])
  assert.deepEqual(first.got[0]?.body.metadata, { order: '7' })
})

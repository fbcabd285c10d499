import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeSnsStandIn } from '../../src/adapters/ses/sns-stand-in.ts'
import { startSesStandIn } from '../../src/adapters/ses/stand-in.ts'
import { withUpstream } from './upstream.ts'

const ses = await startSesStandIn()
after(() => ses.close())
ses.account.SendQuota.MaxSendRate = 500
const sns = await makeSnsStandIn()
const up = await withUpstream({
  hook: 'ses',
  env: {
    POSTHORN_TRANSPORT: 'ses://eu-west-3?configuration-set=posthorn',
    POSTHORN_AWS_ENDPOINT: ses.endpoint,
    AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'secret',
    POSTHORN_SNS_TOPICS: `arn:aws:sns:eu-west-3:1:other, ${sns.topicArn}`,
  },
  download: async () => sns.certificate,
})
after(() => up.close())
const { app } = up

const sentTo = (recipient: string) => {
  const found = ses.sent.findLast(({ recipients }) => recipients[0] === recipient)
  assert.ok(found)
  return found
}

type Fields = Record<string, unknown>

function eventFor(recipient: string, eventType: string, fields: Fields, tagged = true): string {
  const { messageId, tags } = sentTo(recipient)
  const timestamp = new Date().toISOString()
  const lists = Object.entries(tags).map(([name, value]) => [name, [value]])
  const mail = {
    messageId,
    timestamp,
    destination: [recipient],
    tags: tagged ? Object.fromEntries(lists) : {},
  }
  const [name = ''] = eventType.split(' ')
  const part = { timestamp, ...fields }
  return JSON.stringify({ eventType, mail, [name.charAt(0).toLowerCase() + name.slice(1)]: part })
}

const bounceOf = (recipient: string, bounceType: string, bounceSubType: string, diagnosticCode: string) =>
  eventFor(recipient, 'Bounce', {
    bounceType,
    bounceSubType,
    bouncedRecipients: [{ emailAddress: recipient, diagnosticCode }],
  })

test('a message goes out through the upstream and is delivered by its word', async () => {
  const id = await up.send('anna@reader.example')
  const { raw, configurationSet } = sentTo('anna@reader.example')
  assert.equal(configurationSet, 'posthorn')
  assert.match(raw, /Subject: Your order 1234/)
  const told = eventFor('anna@reader.example', 'Delivery', { recipients: ['anna@reader.example'] })
  assert.equal((await up.post(sns.notification(told))).status, 200)
  const { status, delivered_at, events } = await up.message(id)
  assert.equal(status, 'delivered')
  assert.ok(delivered_at)
  assert.deepEqual(
    events.map(({ type }: { type: string }) => type),
    ['delivery'],
  )
})

test('a notification that comes again is counted once, also at the same time', async () => {
  const id = await up.send('twice@reader.example')
  const told = bounceOf('twice@reader.example', 'Transient', 'MailboxFull', 'smtp; 552 5.2.2 full')
  const notification = sns.notification(told)
  const replies = await Promise.all([1, 2, 3].map(() => up.post(notification)))
  replies.push(await up.post(notification))
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200, 200],
  )
  const { status, events, last_error } = await up.message(id)
  assert.deepEqual([status, events.length, events[0].type], ['failed', 1, 'bounce'])
  assert.equal(last_error.code, 'mailbox_full')
  assert.equal(await up.suppression('twice@reader.example'), undefined)
})

test('a hard bounce suppresses for its account, and lifting that reaches the upstream', async () => {
  const address = 'gone@reader.example'
  const id = await up.send(address)
  await up.post(sns.notification(bounceOf(address, 'Permanent', 'General', 'smtp; 550 5.1.1 no such user')))
  assert.equal((await up.message(id)).status, 'failed')
  assert.deepEqual((await up.suppression(address)).reason, 'hard_bounce')
  const other = await app.makeAccount()
  assert.equal(await up.suppression(address, other.key), undefined)

  // Another account that suppresses it keeps the upstream's entry.
  ses.suppressed.add(address)
  const { key } = other
  await app.call('POST', '/api/v1/suppressions', { key, body: { email: address } })
  assert.equal((await app.call('DELETE', `/api/v1/suppressions/${address}`)).status, 200)
  await up.workOff()
  assert.ok(ses.suppressed.has(address))
  assert.equal((await app.call('DELETE', `/api/v1/suppressions/${address}`, { key })).status, 200)
  await up.workOff()
  assert.ok(!ses.suppressed.has(address))
  const calls = ses.requests.length
  await up.workOff()
  assert.equal(ses.requests.length, calls)
})

test('a complaint suppresses and leaves the message delivered', async () => {
  const address = 'cross@reader.example'
  const id = await up.send(address)
  await up.post(sns.notification(eventFor(address, 'Delivery', { recipients: [address] })))
  const complaint = {
    complainedRecipients: [{ emailAddress: address }],
    complaintFeedbackType: 'abuse',
  }
  await up.post(sns.notification(eventFor(address, 'Complaint', complaint)))
  assert.equal((await up.message(id)).status, 'delivered')
  assert.equal((await up.suppression(address)).reason, 'complaint')
})

test('what the upstream has on its own list is taken over', async () => {
  const address = 'listed@reader.example'
  const id = await up.send(address)
  await up.post(sns.notification(bounceOf(address, 'Permanent', 'OnAccountSuppressionList', 'suppressed')))
  assert.equal((await up.message(id)).status, 'suppressed')
  const { reason, source } = await up.suppression(address)
  assert.deepEqual([reason, source], ['hard_bounce', 'upstream'])
})

test('without our tag a message is found by what the upstream calls it', async () => {
  const address = 'Plain@reader.example'
  const id = await up.send(address)
  await up.post(sns.notification(eventFor(address, 'Delivery', { recipients: [address] }, false)))
  assert.equal((await up.message(id)).status, 'delivered')
})

test('feedback about messages that are not ours is taken and forgotten', async () => {
  const mail = {
    messageId: 'somebody-elses',
    timestamp: new Date().toISOString(),
    destination: ['x@reader.example'],
    tags: { posthorn_message: ['01900000-0000-7000-8000-000000000000'] },
  }
  const event = JSON.stringify({ eventType: 'Send', mail, send: {} })
  assert.equal((await up.post(sns.notification(event))).status, 200)
  assert.equal((await up.post(sns.notification('{"eventType":"Open","mail":{}}'))).status, 200)
})

test('what is not proven to be from our topic is refused, with the reason', async () => {
  const id = await up.send('victim@reader.example')
  const forged = { ...JSON.parse(sns.notification('{}')) }
  forged.Message = bounceOf('victim@reader.example', 'Permanent', 'General', 'smtp; 550 5.1.1')
  const reply = await up.post(JSON.stringify(forged))
  assert.deepEqual([reply.status, reply.body.error.code], [403, 'feedback_untrusted'])
  const stranger = await makeSnsStandIn('strangers')
  assert.equal((await up.post(stranger.notification(forged.Message))).status, 403)
  const old = sns.notification(forged.Message, { at: new Date(Date.now() - 2 * 3_600_000) })
  assert.equal((await up.post(old)).status, 403)
  assert.equal((await up.message(id)).status, 'sent')
})

test('what is no notification is refused as such', async () => {
  for (const raw of ['', 'hello', '[]', '{"Type":"Notification"}']) {
    const { status, body } = await up.post(raw)
    assert.deepEqual([status, body.error?.code], [400, 'feedback_malformed'], raw)
  }
  assert.equal((await up.post(sns.notification('no event'), 'application/json')).status, 400)
  assert.equal((await up.post('<a/>', 'text/xml')).status, 415)
  assert.equal((await up.post('x'.repeat(256 * 1024 + 1))).status, 413)
  assert.equal((await app.call('GET', '/hooks/ses')).status, 404)
})

test('a subscription is confirmed at Amazon’s address, once it is proven', async () => {
  assert.equal((await up.post(sns.confirmation('SubscriptionConfirmation'))).status, 200)
  assert.match(
    up.asked.at(-1) ?? '',
    /^https:\/\/sns\.eu-west-3\.amazonaws\.com\/\?Action=ConfirmSubscription/,
  )
  assert.equal(up.asked.filter((url) => url === sns.certificateUrl).length, 1)
})

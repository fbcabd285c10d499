import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { startScalewayStandIn } from '../../src/adapters/scaleway/stand-in.ts'
import { makeTopicsStandIn } from '../../src/adapters/scaleway/topics-stand-in.ts'
import { withUpstream } from './upstream.ts'

const scaleway = await startScalewayStandIn()
after(() => scaleway.close())
const topics = await makeTopicsStandIn()
const up = await withUpstream({
  hook: 'scaleway',
  env: {
    POSTHORN_TRANSPORT: 'scaleway://fr-par',
    POSTHORN_SCALEWAY_ENDPOINT: scaleway.endpoint,
    SCW_SECRET_KEY: scaleway.secretKey,
    SCW_PROJECT_ID: scaleway.projectId,
    POSTHORN_SNS_TOPICS: topics.topicArn,
  },
  download: topics.download,
})
after(() => up.close())
const { app } = up

function eventFor(recipient: string, type: string, fields: Record<string, unknown> = {}): string {
  const sent = scaleway.sent.findLast(({ to }) => to[0]?.email === recipient)
  assert.ok(sent)
  return JSON.stringify({
    id: randomUUID(),
    type,
    created_at: new Date().toISOString(),
    email_id: sent.id,
    email_from: 'shop@sender.example',
    email_to: recipient,
    email_headers: sent.additional_headers,
    ...fields,
  })
}

test('a message goes out through the upstream and is delivered by its word', async () => {
  const id = await up.send('anna@reader.example')
  assert.equal(scaleway.sent.at(-1)?.subject, 'Your order 1234')
  const queued = topics.notification(eventFor('anna@reader.example', 'email_queued'))
  assert.equal((await up.post(queued)).status, 200)
  assert.equal((await up.message(id)).status, 'sent')
  const told = topics.notification(eventFor('anna@reader.example', 'email_delivered'))
  const replies = await Promise.all([up.post(told), up.post(told)])
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200],
  )
  const { status, events } = await up.message(id)
  assert.deepEqual([status, events.length], ['delivered', 1])
})

test('a mailbox that does not exist is suppressed, and lifting that reaches the upstream', async () => {
  const address = 'gone@reader.example'
  const id = await up.send(address)
  const codes = { email_response_code: 550, email_response_message: '550 5.1.1 no such user' }
  await up.post(topics.notification(eventFor(address, 'email_mailbox_not_found', codes)))
  const { status, last_error } = await up.message(id)
  assert.deepEqual([status, last_error.smtp_code, last_error.enhanced_code], ['failed', 550, '5.1.1'])
  assert.equal((await up.suppression(address)).reason, 'hard_bounce')

  const [domain] = scaleway.domains
  const entry = { id: randomUUID(), domain_id: domain?.id ?? '', email: address, type: 'mailbox_not_found' }
  scaleway.blocklists.push(entry)
  await app.call('DELETE', `/api/v1/suppressions/${address}`)
  scaleway.fail({ status: 500, type: 'internal', message: 'down' })
  await up.workOff()
  assert.equal(scaleway.blocklists.length, 1)
  // A later removal of the same address does not wait for the next try.
  await app.call('POST', '/api/v1/suppressions', { body: { email: address } })
  await app.call('DELETE', `/api/v1/suppressions/${address}`)
  await up.workOff()
  assert.equal(scaleway.blocklists.length, 0)
})

test('what its filter takes for spam fails and spares the address', async () => {
  const address = 'spam@reader.example'
  const id = await up.send(address)
  await up.post(topics.notification(eventFor(address, 'email_spam')))
  assert.equal((await up.message(id)).status, 'failed')
  assert.equal(await up.suppression(address), undefined)
})

test('a forged notification is refused, and one that cannot be checked is asked for again', async () => {
  const address = 'victim@reader.example'
  const id = await up.send(address)
  const message = eventFor(address, 'email_mailbox_not_found')
  const forged = JSON.stringify({ ...JSON.parse(topics.notification('{}')), Message: message })
  const reply = await up.post(forged)
  assert.deepEqual([reply.status, reply.body.error.code], [403, 'feedback_untrusted'])
  const elsewhere = JSON.parse(topics.notification(message))
  elsewhere.SigningCertURL = 'https://messaging.s3.fr-par.scw.cloud/fr-par/sns/unknown.crt'
  const later = await up.post(JSON.stringify(elsewhere))
  assert.deepEqual([later.status, later.body.error.retryable], [503, true])
  assert.equal((await up.message(id)).status, 'sent')
})

test('a subscription is confirmed at Scaleway’s address', async () => {
  assert.equal((await up.post(topics.confirmation())).status, 200)
  assert.match(
    up.asked.at(-1) ?? '',
    /^https:\/\/sns\.mnq\.fr-par\.scaleway\.com\/\?Action=ConfirmSubscription/,
  )
})

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import https from 'node:https'
import { before, test } from 'node:test'
import MessageValidator from 'sns-validator'
import { FeedbackFault } from './fault.ts'
import { confirmSubscription, rememberCertificates, type SnsCheck, verifySnsMessage } from './sns.ts'
import { makeSnsStandIn, type SnsStandIn } from './sns-stand-in.ts'

let sns: SnsStandIn
before(async () => {
  sns = await makeSnsStandIn()
})

const check = (more: Partial<SnsCheck> = {}): SnsCheck => ({
  topics: [sns.topicArn],
  certificate: async () => sns.certificate,
  now: new Date(),
  ...more,
})

const refused = (code: string, words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof FeedbackFault, String(error))
  assert.equal(error.code, code, error.message)
  assert.match(error.message, words)
  return true
}

const changed = (message: string, fields: Record<string, unknown>) =>
  JSON.stringify({ ...JSON.parse(message), ...fields })

test('messages of both signature versions verify, with and without a subject', async () => {
  for (const version of ['1', '2'] as const) {
    const plain = await verifySnsMessage(sns.notification('{"a":1}', { version }), check())
    assert.equal(plain.type, 'Notification')
    assert.equal(plain.message, '{"a":1}')
    const titled = sns.notification('{}', {
      version,
      fields: { Subject: 'Amazon SES Email Event Notification' },
    })
    assert.equal((await verifySnsMessage(Buffer.from(titled), check())).topicArn, sns.topicArn)
    for (const type of ['SubscriptionConfirmation', 'UnsubscribeConfirmation'] as const) {
      const confirmed = await verifySnsMessage(sns.confirmation(type, { version }), check())
      assert.equal(confirmed.type, type)
      assert.match(confirmed.subscribeUrl ?? '', /^https:\/\/sns\.eu-west-3\.amazonaws\.com\//)
    }
  }
})

test("what the stand-in signs, Amazon's own library accepts", async (t) => {
  t.mock.method(https, 'get', (_url: string, respond: (answer: EventEmitter) => void) => {
    const answer = Object.assign(new EventEmitter(), { statusCode: 200 })
    respond(answer)
    answer.emit('data', Buffer.from(sns.certificate))
    answer.emit('end')
    return new EventEmitter()
  })
  const validate = (text: string) =>
    new Promise((done, fail) =>
      new MessageValidator().validate(text, (error, message) => (error ? fail(error) : done(message))),
    )
  for (const version of ['1', '2'] as const) {
    await validate(sns.notification('{}', { version, fields: { Subject: 'x' } }))
    await validate(sns.confirmation('SubscriptionConfirmation', { version }))
  }
})

test('a changed message does not verify', async () => {
  const good = sns.notification('{"a":1}')
  const untrusted = refused('untrusted', /signature/)
  await assert.rejects(verifySnsMessage(changed(good, { Message: '{"a":2}' }), check()), untrusted)
  await assert.rejects(verifySnsMessage(changed(good, { MessageId: 'other' }), check()), untrusted)
  await assert.rejects(verifySnsMessage(changed(good, { Subject: 'added' }), check()), untrusted)
  await assert.rejects(verifySnsMessage(changed(good, { Signature: 'AAAA' }), check()), untrusted)
  await assert.rejects(verifySnsMessage(changed(good, { SignatureVersion: '1' }), check()), untrusted)
  const other = await makeSnsStandIn()
  await assert.rejects(verifySnsMessage(other.notification('{}'), check()), untrusted)
})

test("another's topic is refused before anything is downloaded", async () => {
  const certificate = async () => assert.fail('downloaded')
  const other = sns.notification('{}', { fields: { TopicArn: 'arn:aws:sns:eu-west-3:666:evil' } })
  await assert.rejects(
    verifySnsMessage(other, check({ certificate })),
    refused('untrusted', /not one of ours/),
  )
})

test('a certificate comes only from Amazon SNS', async () => {
  const certificate = async () => assert.fail('downloaded')
  const good = sns.notification('{}')
  const urls = [
    'http://sns.eu-west-3.amazonaws.com/x.pem',
    'https://sns.eu-west-3.amazonaws.com.evil.example/x.pem',
    'https://evil.example/sns.eu-west-3.amazonaws.com/x.pem',
    'https://sns.eu-west-3.amazonaws.com@evil.example/x.pem',
    'https://evil@sns.eu-west-3.amazonaws.com/x.pem',
    'https://sns.eu-west-3.amazonaws.com:8443/x.pem',
    'https://sns.eu-west-3.amazonaws.com/x.crt',
    'https://sns.eu-west-3.amazonaws.com/x.crt?.pem',
    'https://bucket.s3.amazonaws.com/x.pem',
    'https://sns.eu.west.amazonaws.com/x.pem',
    'not a url',
  ]
  for (const SigningCertURL of urls) {
    const message = changed(good, { SigningCertURL })
    await assert.rejects(
      verifySnsMessage(message, check({ certificate })),
      refused('untrusted', /address/),
      SigningCertURL,
    )
  }
})

test('old messages, and messages from the future, are refused', async () => {
  const at = new Date('2026-03-01T12:00:00Z')
  const message = sns.notification('{}', { at })
  const later = (ms: number) => new Date(at.getTime() + ms)
  await verifySnsMessage(message, check({ now: later(3_500_000) }))
  await assert.rejects(
    verifySnsMessage(message, check({ now: later(3_700_000) })),
    refused('untrusted', /too far/),
  )
  await verifySnsMessage(message, check({ now: later(3_700_000), maxAgeMs: 7_200_000 }))
  await assert.rejects(
    verifySnsMessage(message, check({ now: later(-3_700_000) })),
    refused('untrusted', /too far/),
  )
  const far = sns.notification('{}', { at: new Date('2070-01-01') })
  await assert.rejects(
    verifySnsMessage(far, check({ now: new Date('2070-01-01') })),
    refused('untrusted', /not valid at/),
  )
})

test('malformed messages give a clear fault', async () => {
  const good = JSON.parse(sns.notification('{}'))
  for (const name of [
    'Type',
    'MessageId',
    'TopicArn',
    'Message',
    'Timestamp',
    'SigningCertURL',
    'Signature',
    'SignatureVersion',
  ]) {
    for (const value of [undefined, null, 7, {}, [], '']) {
      const message = JSON.stringify({ ...good, [name]: value })
      await assert.rejects(verifySnsMessage(message, check()), refused('malformed', new RegExp(name)), name)
    }
  }
  for (const text of ['', 'null', '[]', '"x"', '7', '{', '{"__proto__":{"Type":"Notification"}}']) {
    await assert.rejects(verifySnsMessage(text, check()), refused('malformed', /./), text)
  }
  await assert.rejects(verifySnsMessage(' '.repeat(1_000_001), check()), refused('malformed', /too large/))
  await assert.rejects(
    verifySnsMessage(changed(JSON.stringify(good), { Timestamp: 'soon' }), check()),
    refused('malformed', /Timestamp/),
  )
})

test('a certificate that cannot be had is a reason to try again', async () => {
  const failing = async () => {
    throw new Error('ETIMEDOUT')
  }
  await assert.rejects(
    verifySnsMessage(sns.notification('{}'), check({ certificate: failing })),
    refused('unavailable', /downloaded/),
  )
  const odd = async () => '<html>'
  await assert.rejects(
    verifySnsMessage(sns.notification('{}'), check({ certificate: odd })),
    refused('unavailable', /not a certificate/),
  )
})

test('certificates are downloaded once, failures are not kept, and the memory is small', async () => {
  const asked: string[] = []
  const get = rememberCertificates(async (url) => {
    asked.push(url)
    if (asked.length === 1) throw new Error('no')
    return url
  }, 2)
  await assert.rejects(get('a'))
  assert.deepEqual([await get('a'), await get('a')], ['a', 'a'])
  await get('b')
  await get('c')
  await get('a')
  assert.deepEqual(asked, ['a', 'a', 'b', 'c', 'a'])
})

test('a subscription is confirmed only at an address of Amazon SNS', async () => {
  const asked: string[] = []
  const get = async (url: string) => {
    asked.push(url)
    return { status: asked.length === 1 ? 200 : 403 }
  }
  const envelope = await verifySnsMessage(sns.confirmation('SubscriptionConfirmation'), check())
  await confirmSubscription(envelope, get)
  assert.deepEqual(asked, [envelope.subscribeUrl])
  await assert.rejects(confirmSubscription(envelope, get), refused('unavailable', /403/))
  const elsewhere = { ...envelope, subscribeUrl: 'https://169.254.169.254/latest' }
  await assert.rejects(confirmSubscription(elsewhere, get), refused('untrusted', /confirm/))
  const leaving = await verifySnsMessage(sns.confirmation('UnsubscribeConfirmation'), check())
  await assert.rejects(confirmSubscription(leaving, get), refused('untrusted', /confirm/))
  assert.equal(asked.length, 2)
})

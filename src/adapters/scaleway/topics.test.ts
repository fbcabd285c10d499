import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { FeedbackFault } from './fault.ts'
import { confirmTopic, type TopicCheck, verifyTopicMessage } from './topics.ts'
import { makeTopicsStandIn, type TopicsStandIn } from './topics-stand-in.ts'

let topics: TopicsStandIn
let stranger: TopicsStandIn
before(async () => {
  topics = await makeTopicsStandIn()
  stranger = await makeTopicsStandIn()
})

const check = (more: Partial<TopicCheck> = {}): TopicCheck => ({
  topics: [topics.topicArn],
  certificate: topics.download,
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

test('a message of ours verifies, by a chain that is downloaded or pinned', async () => {
  const envelope = await verifyTopicMessage(topics.notification('{"type":"x"}'), check())
  assert.equal(envelope.message, '{"type":"x"}')
  assert.equal(envelope.topicArn, topics.topicArn)
  const { trustChain } = topics
  await verifyTopicMessage(Buffer.from(topics.notification('{}')), check({ trustChain }))
  const titled = topics.notification('{}', { fields: { Subject: 'x' } })
  await verifyTopicMessage(titled, check({ trustChain: stranger.trustChain + trustChain }))
})

test('the certificate may come in binary form, or with others behind it', async () => {
  const binary = Buffer.from(topics.certificate.replace(/-----[^-]+-----|\s/g, ''), 'base64')
  const { trustChain } = topics
  await verifyTopicMessage(topics.notification('{}'), check({ trustChain, certificate: async () => binary }))
  const several = topics.certificate + stranger.trustChain
  await verifyTopicMessage(topics.notification('{}'), check({ trustChain, certificate: async () => several }))
})

test('a certificate of another authority is refused, however good its signature', async () => {
  const forged = stranger.notification('{}', { fields: { TopicArn: topics.topicArn } })
  const { trustChain } = topics
  const untrusted = refused('untrusted', /authority/)
  const certificate = async () => stranger.certificate
  await assert.rejects(verifyTopicMessage(forged, check({ trustChain, certificate })), untrusted)
  // Its own authority alongside does not help.
  const both = async () => stranger.certificate + stranger.trustChain
  await assert.rejects(verifyTopicMessage(forged, check({ trustChain, certificate: both })), untrusted)
})

test('a changed message does not verify', async () => {
  const good = topics.notification('{"a":1}')
  const untrusted = refused('untrusted', /signature/)
  await assert.rejects(verifyTopicMessage(changed(good, { Message: '{}' }), check()), untrusted)
  await assert.rejects(verifyTopicMessage(changed(good, { Signature: 'AAAA' }), check()), untrusted)
})

test('a certificate comes only from the bucket of Scaleway', async () => {
  const certificate = async () => assert.fail('downloaded')
  const urls = [
    'http://messaging.s3.fr-par.scw.cloud/fr-par/sns/a.crt',
    'https://evil.s3.fr-par.scw.cloud/fr-par/sns/a.crt',
    'https://messaging.s3.fr-par.scw.cloud.evil.example/fr-par/sns/a.crt',
    'https://messaging.s3.fr-par.scw.cloud:444/fr-par/sns/a.crt',
    'https://u@messaging.s3.fr-par.scw.cloud/fr-par/sns/a.crt',
    'https://messaging.s3.fr-par.scw.cloud/fr-par/sns/a.pem',
    'https://messaging.s3.fr-par.scw.cloud/../x/a.crt',
    'https://sns.eu-west-3.amazonaws.com/a.pem',
    'nonsense',
  ]
  for (const SigningCertURL of urls) {
    const message = changed(topics.notification('{}'), { SigningCertURL })
    await assert.rejects(
      verifyTopicMessage(message, check({ certificate })),
      refused('untrusted', /place/),
      SigningCertURL,
    )
  }
})

test('foreign topics, old messages and other signature versions are refused', async () => {
  const foreign = topics.notification('{}', { fields: { TopicArn: 'arn:scw:sns:fr-par:project-x:evil' } })
  await assert.rejects(verifyTopicMessage(foreign, check()), refused('untrusted', /not one of ours/))
  const old = topics.notification('{}', { at: new Date(Date.now() - 3_700_000) })
  await assert.rejects(verifyTopicMessage(old, check()), refused('untrusted', /too far/))
  const second = changed(topics.notification('{}'), { SignatureVersion: '2' })
  await assert.rejects(verifyTopicMessage(second, check()), refused('malformed', /SignatureVersion/))
  const late = new Date('2061-01-01')
  const expired = topics.notification('{}', { at: late })
  await assert.rejects(verifyTopicMessage(expired, check({ now: late })), refused('untrusted', /out of date/))
})

test('malformed messages give a clear fault, and a missing certificate a reason to try again', async () => {
  const good = JSON.parse(topics.notification('{}'))
  for (const name of [
    'Type',
    'MessageId',
    'TopicArn',
    'Message',
    'Timestamp',
    'SigningCertURL',
    'Signature',
  ]) {
    for (const value of [undefined, null, 7, {}, '']) {
      const message = JSON.stringify({ ...good, [name]: value })
      await assert.rejects(verifyTopicMessage(message, check()), refused('malformed', new RegExp(name)), name)
    }
  }
  for (const text of ['', 'null', '[]', '{']) {
    await assert.rejects(verifyTopicMessage(text, check()), refused('malformed', /./))
  }
  const message = JSON.stringify(good)
  const failing = () => Promise.reject(new Error('no'))
  await assert.rejects(
    verifyTopicMessage(message, check({ certificate: failing })),
    refused('unavailable', /downloaded/),
  )
  const odd = async () => '<html>'
  await assert.rejects(
    verifyTopicMessage(message, check({ certificate: odd })),
    refused('unavailable', /not a certificate/),
  )
})

test('a subscription is confirmed only at an address of Scaleway', async () => {
  const asked: string[] = []
  const get = async (url: string) => ({ status: asked.push(url) === 1 ? 200 : 500 })
  const envelope = await verifyTopicMessage(topics.confirmation(), check())
  await confirmTopic(envelope, get)
  assert.deepEqual(asked, [envelope.subscribeUrl])
  await assert.rejects(confirmTopic(envelope, get), refused('unavailable', /500/))
  for (const subscribeUrl of ['https://evil.example/', 'http://sns.mnq.fr-par.scaleway.com/', '']) {
    await assert.rejects(confirmTopic({ ...envelope, subscribeUrl }, get), refused('untrusted', /confirm/))
  }
  assert.equal(asked.length, 2)
})

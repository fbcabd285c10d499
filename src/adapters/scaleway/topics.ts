// Scaleway Topics and Events: the envelope of Amazon SNS, always with signature version 1, and a certificate that
// counts only when Scaleway's own authority issued it.
// https://www.scaleway.com/en/docs/topics-and-events/reference-content/verifying-webhooks/
import { verify, X509Certificate } from 'node:crypto'
import { FeedbackFault } from './fault.ts'
import { type Fields, needText, needTime, readFields, textAt } from './reading.ts'

const types = ['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation'] as const

export type TopicEnvelope = {
  type: (typeof types)[number]
  /** The same on every attempt to deliver the same message. */
  messageId: string
  topicArn: string
  message: string
  at: Date
  subscribeUrl: string | null
}

export type TopicCheck = {
  topics: readonly string[]
  /** Downloads what is at an address of Scaleway's, without following redirects. */
  certificate: (url: string) => Promise<string | Buffer>
  /** The authority's certificates in PEM form; downloaded from `trustChainUrl` when not given. */
  trustChain?: string
  now: Date
  maxAgeMs?: number
}

const largestBody = 1_000_000
const hourMs = 3_600_000
const clockSkewMs = 15 * 60_000
const bucket = 'messaging.s3.fr-par.scw.cloud'

const signedKeys = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: [
    'Message',
    'MessageId',
    'SubscribeURL',
    'Timestamp',
    'Token',
    'TopicArn',
    'Type',
  ],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
}

/** Valid until 2032, while the certificates that it issues change every year. */
export const trustChainUrl = (region: string) => `https://${bucket}/${region}/sns/sns-trust-chain.pem`

/** Gives the message only when Scaleway signed it and it comes from one of our topics. */
export async function verifyTopicMessage(body: string | Buffer, check: TopicCheck): Promise<TopicEnvelope> {
  if (body.length > largestBody) throw new FeedbackFault('malformed', 'the message is too large')
  const fields = readFields(body.toString(), 'the message')
  const envelope = readEnvelope(fields)
  if (!check.topics.includes(envelope.topicArn)) {
    throw new FeedbackFault('untrusted', `the topic ${envelope.topicArn.slice(0, 300)} is not one of ours`)
  }
  refuseWrongAge(envelope.at, check)
  const url = needText(fields, 'SigningCertURL')
  const region = regionOf(url)
  const own = readCertificates(await download(check, url))
  const chain = readCertificates(check.trustChain ?? (await download(check, trustChainUrl(region))))
  const certificate = own[0]
  if (certificate === undefined || !isTrusted(certificate, { own, chain, now: check.now })) {
    throw new FeedbackFault(
      'untrusted',
      "the certificate was not issued by Scaleway's authority, or is out of date",
    )
  }
  if (!isSigned(fields, envelope.type, certificate)) {
    throw new FeedbackFault('untrusted', 'the signature does not fit the message')
  }
  return envelope
}

/** Answers a SubscriptionConfirmation that has been verified. */
export async function confirmTopic(
  envelope: TopicEnvelope,
  get: (url: string) => Promise<{ status: number }>,
): Promise<void> {
  const url = envelope.subscribeUrl ?? ''
  const isScaleways = isHttps(url) && /^sns\.mnq\.[a-z0-9-]+\.scaleway\.com$/.test(new URL(url).host)
  if (envelope.type !== 'SubscriptionConfirmation' || !isScaleways) {
    throw new FeedbackFault('untrusted', 'there is no subscription at an address of Scaleway to confirm')
  }
  const { status } = await get(url)
  if (status !== 200)
    throw new FeedbackFault('unavailable', `Scaleway answered ${status} to the confirmation`)
}

function readEnvelope(fields: Fields): TopicEnvelope {
  const type = types.find((known) => known === fields.Type)
  if (type === undefined) throw new FeedbackFault('malformed', 'Type is not one that Scaleway sends')
  if (needText(fields, 'SignatureVersion') !== '1')
    throw new FeedbackFault('malformed', 'SignatureVersion is not 1')
  return {
    type,
    messageId: needText(fields, 'MessageId'),
    topicArn: needText(fields, 'TopicArn'),
    message: needText(fields, 'Message'),
    at: needTime(fields, 'Timestamp'),
    subscribeUrl: type === 'Notification' ? null : needText(fields, 'SubscribeURL'),
  }
}

function refuseWrongAge(at: Date, { now, maxAgeMs = hourMs }: TopicCheck): void {
  const age = now.getTime() - at.getTime()
  if (age > maxAgeMs || age < -clockSkewMs) {
    throw new FeedbackFault('untrusted', `the message is of ${at.toISOString()}, too far from now`)
  }
}

const isHttps = (text: string) =>
  URL.canParse(text) && new URL(text).protocol === 'https:' && new URL(text).username === ''

function regionOf(url: string): string {
  const { host, pathname } = isHttps(url) ? new URL(url) : { host: '', pathname: '' }
  const region = /^\/([a-z]{2}-[a-z]{3})\/sns\/[\w.-]+\.crt$/.exec(pathname)?.[1]
  if (host === bucket && region !== undefined) return region
  throw new FeedbackFault('untrusted', "the certificate is not in Scaleway's place for them")
}

async function download(check: TopicCheck, url: string): Promise<string | Buffer> {
  return check.certificate(url).catch((error) => {
    throw new FeedbackFault('unavailable', `${url} could not be downloaded`, error)
  })
}

const pemBlocks = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

function readCertificates(file: string | Buffer): X509Certificate[] {
  const blocks = file.toString().match(pemBlocks) ?? [file]
  try {
    return blocks.map((block) => new X509Certificate(block))
  } catch (error) {
    throw new FeedbackFault('unavailable', 'what was downloaded is not a certificate', error)
  }
}

type Chain = { own: X509Certificate[]; chain: X509Certificate[]; now: Date }

/** Walks up from the certificate, over others that came with it, to one of the authority's. */
function isTrusted(certificate: X509Certificate, { own, chain, now }: Chain, steps = 4): boolean {
  const issued = (by: X509Certificate) =>
    isCurrent(by, now) && certificate.checkIssued(by) && certificate.verify(by.publicKey)
  if (!isCurrent(certificate, now) || steps === 0) return false
  if (chain.some(issued)) return true
  return own.some((by) => by.ca && issued(by) && isTrusted(by, { own, chain, now }, steps - 1))
}

const isCurrent = ({ validFrom, validTo }: X509Certificate, now: Date) =>
  new Date(validFrom) <= now && now <= new Date(validTo)

function isSigned(fields: Fields, type: TopicEnvelope['type'], { publicKey }: X509Certificate): boolean {
  const present = signedKeys[type].filter((name) => textAt(fields, name) !== null)
  const signed = present.map((name) => `${name}\n${textAt(fields, name)}\n`).join('')
  const signature = Buffer.from(needText(fields, 'Signature'), 'base64')
  return (
    publicKey.asymmetricKeyType === 'rsa' && verify('RSA-SHA1', Buffer.from(signed), publicKey, signature)
  )
}

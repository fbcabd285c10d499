// Amazon SNS over HTTP. AWS's own `sns-validator` is not used: it takes no certificate from outside, and builds the
// signed text of an UnsubscribeConfirmation without its token, so that such a message never verifies.
import { verify, X509Certificate } from 'node:crypto'
import { FeedbackFault } from './fault.ts'
import { type Fields, needText, needTime, readFields, textAt } from './reading.ts'

const types = ['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation'] as const

export type SnsEnvelope = {
  type: (typeof types)[number]
  /** The same on every attempt to deliver the same message. */
  messageId: string
  topicArn: string
  message: string
  at: Date
  subscribeUrl: string | null
}

export type SnsCheck = {
  /** A good signature says only that some topic of Amazon's sent it, and anyone can have one. */
  topics: readonly string[]
  /** Downloads a certificate in PEM form, without following redirects. */
  certificate: (url: string) => Promise<string>
  now: Date
  maxAgeMs?: number
}

// A message holds 256 KiB at most, as a JSON text inside JSON.
const largestBody = 1_000_000
const hourMs = 3_600_000
const clockSkewMs = 15 * 60_000

// https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
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
const algorithms: Record<string, string> = { '1': 'RSA-SHA1', '2': 'RSA-SHA256' }

/** Gives the message only when Amazon signed it and it comes from one of our topics. */
export async function verifySnsMessage(body: string | Buffer, check: SnsCheck): Promise<SnsEnvelope> {
  if (body.length > largestBody) throw new FeedbackFault('malformed', 'the message is too large')
  const fields = readFields(body.toString(), 'the message')
  const envelope = readEnvelope(fields)
  // Before anything is downloaded: a stranger does not make us call Amazon.
  if (!check.topics.includes(envelope.topicArn)) {
    throw new FeedbackFault('untrusted', `the topic ${envelope.topicArn.slice(0, 300)} is not one of ours`)
  }
  refuseWrongAge(envelope.at, check)
  const url = needText(fields, 'SigningCertURL')
  if (!isSnsUrl(url) || !new URL(url).pathname.endsWith('.pem')) {
    throw new FeedbackFault('untrusted', 'the certificate is not at an address of Amazon SNS')
  }
  const pem = await check.certificate(url).catch((error) => {
    throw new FeedbackFault('unavailable', 'the certificate could not be downloaded', error)
  })
  if (!isSigned(fields, envelope.type, keyOf(pem, check.now))) {
    throw new FeedbackFault('untrusted', 'the signature does not fit the message')
  }
  return envelope
}

/** Answers a SubscriptionConfirmation that has been verified. */
export async function confirmSubscription(
  envelope: SnsEnvelope,
  get: (url: string) => Promise<{ status: number }>,
): Promise<void> {
  if (envelope.type !== 'SubscriptionConfirmation' || !isSnsUrl(envelope.subscribeUrl ?? '')) {
    throw new FeedbackFault('untrusted', 'there is no subscription at an address of Amazon SNS to confirm')
  }
  const { status } = await get(envelope.subscribeUrl ?? '')
  if (status !== 200)
    throw new FeedbackFault('unavailable', `Amazon SNS answered ${status} to the confirmation`)
}

/** Keeps the last few certificates, by address; what could not be downloaded is not kept. */
export function rememberCertificates(
  certificate: SnsCheck['certificate'],
  most = 20,
): SnsCheck['certificate'] {
  const known = new Map<string, Promise<string>>()
  return (url) => {
    const found = known.get(url)
    if (found !== undefined) return found
    const asked = certificate(url)
    known.set(url, asked)
    asked.catch(() => known.delete(url))
    const [oldest] = known.keys()
    if (known.size > most && oldest !== undefined) known.delete(oldest)
    return asked
  }
}

function readEnvelope(fields: Fields): SnsEnvelope {
  const type = types.find((known) => known === fields.Type)
  if (type === undefined) throw new FeedbackFault('malformed', 'Type is not one that Amazon SNS sends')
  return {
    type,
    messageId: needText(fields, 'MessageId'),
    topicArn: needText(fields, 'TopicArn'),
    message: needText(fields, 'Message'),
    at: needTime(fields, 'Timestamp'),
    subscribeUrl: type === 'Notification' ? null : needText(fields, 'SubscribeURL'),
  }
}

function refuseWrongAge(at: Date, { now, maxAgeMs = hourMs }: SnsCheck): void {
  const age = now.getTime() - at.getTime()
  if (age > maxAgeMs || age < -clockSkewMs) {
    throw new FeedbackFault('untrusted', `the message is of ${at.toISOString()}, too far from now`)
  }
}

function isSnsUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, host, username } = new URL(text)
  return protocol === 'https:' && username === '' && /^sns\.[a-z0-9-]{3,}\.amazonaws\.com(\.cn)?$/.test(host)
}

function keyOf(pem: string, now: Date) {
  try {
    const certificate = new X509Certificate(pem)
    if (new Date(certificate.validFrom) <= now && now <= new Date(certificate.validTo))
      return certificate.publicKey
  } catch (error) {
    throw new FeedbackFault('unavailable', 'what was downloaded is not a certificate', error)
  }
  throw new FeedbackFault('untrusted', 'the certificate is not valid at this time')
}

function isSigned(fields: Fields, type: SnsEnvelope['type'], key: X509Certificate['publicKey']): boolean {
  const algorithm = algorithms[needText(fields, 'SignatureVersion')]
  if (algorithm === undefined) throw new FeedbackFault('malformed', 'SignatureVersion is neither 1 nor 2')
  const present = signedKeys[type].filter((name) => textAt(fields, name) !== null)
  const signed = present.map((name) => `${name}\n${textAt(fields, name)}\n`).join('')
  const signature = Buffer.from(needText(fields, 'Signature'), 'base64')
  // A key that is not RSA makes `verify` throw.
  return key.asymmetricKeyType === 'rsa' && verify(algorithm, Buffer.from(signed), key, signature)
}

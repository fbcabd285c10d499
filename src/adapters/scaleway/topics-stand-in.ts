// Signs messages as Scaleway Topics and Events does, with an authority of its own.
import { randomUUID, sign } from 'node:crypto'
import { generate } from 'selfsigned'

export type TopicsStandIn = {
  topicArn: string
  certificateUrl: string
  /** Of the authority, in PEM form. */
  trustChain: string
  certificate: string
  /** Answers for both addresses that a check downloads. */
  download(url: string): Promise<string>
  notification(message: string, more?: Signing): string
  confirmation(more?: Signing): string
}

export type Signing = { at?: Date; fields?: Record<string, string> }

const bucket = 'https://messaging.s3.fr-par.scw.cloud/fr-par/sns'
const lifetime = { notBeforeDate: new Date('2020-01-01'), notAfterDate: new Date('2060-01-01') }

async function makeAuthority() {
  return generate([{ name: 'commonName', value: 'sns.mnq.srr.scw.cloud' }], {
    ...lifetime,
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true },
    ],
  })
}

export async function makeTopicsStandIn(topic = 'posthorn-feedback'): Promise<TopicsStandIn> {
  const authority = await makeAuthority()
  const pair = await generate([{ name: 'commonName', value: 'sns.mnq.fr-par.scaleway.com' }], {
    ...lifetime,
    algorithm: 'sha256',
    extensions: [{ name: 'basicConstraints', cA: false }],
    ca: { key: authority.private, cert: authority.cert },
  })
  const topicArn = `arn:scw:sns:fr-par:project-${randomUUID()}:${topic}`
  const certificateUrl = `${bucket}/sns_certificate_${randomUUID()}.crt`
  const envelope = (fields: Record<string, string>, { at = new Date(), fields: more = {} }: Signing) => {
    const whole: Record<string, string> = {
      MessageId: randomUUID(),
      TopicArn: topicArn,
      // Without fractions of a second, as theirs are.
      Timestamp: `${at.toISOString().slice(0, 19)}Z`,
      ...fields,
      ...more,
    }
    const names = Object.keys(whole).sort()
    const signed = names.map((name) => `${name}\n${whole[name]}\n`).join('')
    const Signature = sign('RSA-SHA1', Buffer.from(signed), pair.private).toString('base64')
    return JSON.stringify({ ...whole, SignatureVersion: '1', Signature, SigningCertURL: certificateUrl })
  }
  const downloads = new Map([
    [certificateUrl, pair.cert],
    [`${bucket}/sns-trust-chain.pem`, authority.cert],
  ])
  return {
    topicArn,
    certificateUrl,
    trustChain: authority.cert,
    certificate: pair.cert,
    download: async (url) => downloads.get(url) ?? Promise.reject(new Error(`nothing at ${url}`)),
    notification: (message, more = {}) => envelope({ Type: 'Notification', Message: message }, more),
    confirmation: (more = {}) => {
      const Token = randomUUID()
      const SubscribeURL = `https://sns.mnq.fr-par.scaleway.com/?Action=ConfirmSubscription&Token=${Token}`
      return envelope(
        { Type: 'SubscriptionConfirmation', Message: 'Please confirm.', Token, SubscribeURL },
        more,
      )
    },
  }
}

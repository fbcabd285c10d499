// Signs messages as Amazon SNS does, with a key and a certificate of its own.
import { randomUUID, sign } from 'node:crypto'
import { generate } from 'selfsigned'

export type SnsStandIn = {
  topicArn: string
  certificateUrl: string
  /** In PEM form. */
  certificate: string
  notification(message: string, more?: Signing): string
  confirmation(type: 'SubscriptionConfirmation' | 'UnsubscribeConfirmation', more?: Signing): string
}

export type Signing = { version?: '1' | '2'; at?: Date; fields?: Record<string, string> }

const host = 'https://sns.eu-west-3.amazonaws.com'

export async function makeSnsStandIn(topic = 'posthorn-feedback'): Promise<SnsStandIn> {
  const topicArn = `arn:aws:sns:eu-west-3:123456789012:${topic}`
  const certificateUrl = `${host}/SimpleNotificationService-0123456789abcdef.pem`
  const pair = await generate([{ name: 'commonName', value: 'sns.amazonaws.com' }], {
    algorithm: 'sha256',
    notBeforeDate: new Date('2020-01-01'),
    notAfterDate: new Date('2060-01-01'),
  })
  const envelope = (fields: Record<string, string>, { version = '2', at = new Date(), ...more }: Signing) => {
    const whole = {
      MessageId: randomUUID(),
      TopicArn: topicArn,
      Timestamp: at.toISOString(),
      ...fields,
      ...more.fields,
    }
    const signed = Object.keys(whole)
      .sort()
      .map((name) => `${name}\n${whole[name as keyof typeof whole]}\n`)
    const algorithm = version === '1' ? 'RSA-SHA1' : 'RSA-SHA256'
    const Signature = sign(algorithm, Buffer.from(signed.join('')), pair.private).toString('base64')
    return JSON.stringify({ ...whole, SignatureVersion: version, Signature, SigningCertURL: certificateUrl })
  }
  return {
    topicArn,
    certificateUrl,
    certificate: pair.cert,
    notification: (message, more = {}) => envelope({ Type: 'Notification', Message: message }, more),
    confirmation: (type, more = {}) => {
      const Token = randomUUID().replaceAll('-', '')
      const SubscribeURL = `${host}/?Action=ConfirmSubscription&TopicArn=${topicArn}&Token=${Token}`
      return envelope({ Type: type, Message: 'Please visit the SubscribeURL.', Token, SubscribeURL }, more)
    },
  }
}

// The headers of Standard Webhooks: https://www.standardwebhooks.com
import { hmac } from '../../kernel/hmac.ts'
import type { Secrets } from './secrets.ts'

export type Signer = {
  /** The headers of every call. */
  usual: Record<string, string>
  /** Those of this one. */
  sign(id: string, body: string, at: Date): Record<string, string>
}

export function signerOf({ secret, replaced = [], token, basic, headers }: Secrets): Signer {
  const key = keyOf(secret)
  const older = replaced.map((one) => ({ key: keyOf(one.secret), until: Date.parse(one.until) }))
  const usual = {
    ...(basic !== undefined && { authorization: `Basic ${Buffer.from(basic).toString('base64')}` }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...Object.fromEntries(headers.map((one) => [one.key.toLowerCase(), one.value])),
    'content-type': 'application/json',
  }
  return {
    usual,
    sign(id, body, at) {
      const timestamp = String(Math.floor(at.getTime() / 1000))
      const signed = Buffer.from(`${id}.${timestamp}.${body}`)
      const keys = [key, ...older.filter(({ until }) => until > at.getTime()).map((one) => one.key)]
      const signatures = keys.map((one) => `v1,${hmac(one, signed).toString('base64')}`)
      return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
    },
  }
}

const keyOf = (secret: string) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')

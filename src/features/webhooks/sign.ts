// The headers of Standard Webhooks: https://www.standardwebhooks.com
import { hmac } from '../../kernel/hmac.ts'
import type { Secrets } from './secrets.ts'

export type Signer = {
  /** The headers of every call. */
  usual: Record<string, string>
  /** Those of this one. */
  sign(id: string, body: string, at: Date): Record<string, string>
}

export function signerOf({ secret, token, basic, headers }: Secrets): Signer {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
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
      const signature = hmac(key, Buffer.from(`${id}.${timestamp}.${body}`)).toString('base64')
      return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
    },
  }
}

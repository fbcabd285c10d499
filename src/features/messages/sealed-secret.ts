// A secret that only the recipient of a message may read, such as a code: the stored text has a mark in its place, so
// that whoever may read the account's messages does not read it. It is put in when the message is written.
import { seal, unseal } from '../../kernel/seal.ts'
import type { Parts } from './queue-messages.ts'

/** Stands where the secret goes. */
export const secretMark = '●●●●●●'

const labelOf = (messageId: string) => `secret of message ${messageId}`

export function sealSecret(secretKey: Buffer, messageId: string, secret: string): string {
  return seal(secretKey, Buffer.from(secret), labelOf(messageId)).toString('base64')
}

type Needs = { secretKeys?: () => Promise<Buffer[]> }

export async function withSecret({ secretKeys }: Needs, messageId: string, parts: Parts): Promise<Parts> {
  if (!secretKeys) throw new Error(`message ${messageId} holds a secret and there is no key to open it`)
  const sealed = Buffer.from(parts.sealed ?? '', 'base64')
  const secret = unseal(await secretKeys(), sealed, labelOf(messageId)).toString()
  return { ...parts, text: parts.text?.replaceAll(secretMark, secret) }
}

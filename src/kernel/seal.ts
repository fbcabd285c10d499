// Secrets at rest: AES-256-GCM under a key that is not in the database.
// Layout: version, 4 octets that tell which key, 12 of nonce, 16 of tag, then the encrypted octets.
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { secretUnopened } from './refusals.ts'

const version = 1
const at = { keyId: 1, nonce: 5, tag: 17, text: 33 }

export class SealFault extends Error {
  override name = 'SealFault'
}

/** For whoever asks for it in a request. */
export function refuseUnopened(error: unknown): never {
  throw error instanceof SealFault ? Object.assign(secretUnopened(), { cause: error }) : error
}

/** `label` says whose secret it is; sealed octets that were moved to another place do not open there. */
export function seal(key: Buffer, plain: Buffer, label: string): Buffer {
  const nonce = randomBytes(at.tag - at.nonce)
  const head = Buffer.concat([Buffer.from([version]), keyId(key)])
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(aad(head, label))
  const text = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([head, nonce, cipher.getAuthTag(), text])
}

/** With whichever of the keys it was sealed. */
export function unseal(keys: Buffer[], sealed: Buffer, label: string): Buffer {
  if (sealed.length < at.text || sealed[0] !== version)
    throw new SealFault('a sealed secret is not of a known form')
  const key = keys.find((one) => sealed.subarray(at.keyId, at.nonce).equals(keyId(one)))
  if (!key)
    throw new SealFault('a secret was sealed with another key: every process needs the same secret key')
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(at.nonce, at.tag))
    .setAAD(aad(sealed.subarray(0, at.nonce), label))
    .setAuthTag(sealed.subarray(at.tag, at.text))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(at.text)), decipher.final()])
  } catch (cause) {
    throw new SealFault('a sealed secret was changed or moved', { cause })
  }
}

/** Stands in octets 2 to 5 of what the key sealed. */
export const keyId = (key: Buffer) =>
  hash('sha256', Buffer.concat([Buffer.from('key id:'), key]), 'buffer').subarray(0, 4)

const aad = (head: Buffer, label: string) => Buffer.concat([head, Buffer.from(label)])

// HMAC-SHA-256, RFC 2104, for short texts. Node's Hmac object costs more than twice the two hashes it stands for,
// and every message of a newsletter and every call of a webhook needs some.
import { hash } from 'node:crypto'

const blockBytes = 64
const digestBytes = 32

type Padded = { inner: Buffer; outer: Buffer }

const known = new WeakMap<Buffer, Padded>()

export function hmac(key: Buffer, text: Buffer): Buffer {
  const { inner, outer } = known.get(key) ?? remembered(key)
  const digest = hash('sha256', Buffer.concat([inner, text]), 'binary')
  const second = Buffer.allocUnsafe(blockBytes + digestBytes)
  outer.copy(second)
  second.write(digest, blockBytes, 'latin1')
  return Buffer.from(hash('sha256', second, 'binary'), 'latin1')
}

function remembered(key: Buffer): Padded {
  if (key.length > blockBytes) throw new RangeError('A key longer than a block would have to be hashed first')
  const both = { inner: padded(key, 0x36), outer: padded(key, 0x5c) }
  known.set(key, both)
  return both
}

function padded(key: Buffer, octet: number): Buffer {
  const block = Buffer.alloc(blockBytes, octet)
  for (const [at, byte] of key.entries()) block[at] = byte ^ octet
  return block
}

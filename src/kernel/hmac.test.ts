import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { hmac } from './hmac.ts'

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((each) => Buffer.from(each))

test('gives what the platform gives', () => {
  fc.assert(
    fc.property(bytes(64), bytes(500), (key, text) => {
      assert.deepEqual(hmac(key, text), createHmac('sha256', key).update(text).digest())
    }),
  )
})

test('a key gives the same at its second use, and one that is too long is refused', () => {
  const key = randomBytes(32)
  assert.deepEqual(hmac(key, Buffer.from('a')), hmac(key, Buffer.from('a')))
  assert.throws(() => hmac(randomBytes(65), Buffer.from('a')), RangeError)
})

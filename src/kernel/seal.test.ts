import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { SealFault, seal, unseal } from './seal.ts'

const key = randomBytes(32)
const plain = Buffer.from('a private key')

test('what was sealed opens again, and looks different every time', () => {
  const [one, two] = [seal(key, plain, 'a'), seal(key, plain, 'a')]
  assert.ok(!one.equals(two) && !one.includes(plain))
  assert.deepEqual([unseal([key], one, 'a'), unseal([key], two, 'a')], [plain, plain])
  assert.equal(unseal([key], seal(key, Buffer.alloc(0), ''), '').length, 0)
})

test('another key, another place and any changed octet are noticed', () => {
  const sealed = seal(key, plain, 'a')
  const refused = (words: RegExp) => (error: unknown) =>
    error instanceof SealFault && words.test(error.message)
  assert.throws(() => unseal([randomBytes(32)], sealed, 'a'), refused(/another key/))
  assert.throws(() => unseal([key], sealed, 'b'), refused(/changed or moved/))
  assert.throws(() => unseal([key], sealed.subarray(0, 20), 'a'), refused(/known form/))
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed)
    changed[i] = (changed[i] ?? 0) ^ 1
    assert.throws(() => unseal([key], changed, 'a'), SealFault)
  }
})

test('what an older key sealed stays readable', () => {
  const [older, newer] = [randomBytes(32), randomBytes(32)]
  const sealed = seal(older, Buffer.from('secret'), 'a')
  assert.equal(unseal([newer, older], sealed, 'a').toString(), 'secret')
})

import assert from 'node:assert/strict'
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import {
  readUnsubscribeToken,
  type UnsubscribeToken,
  unsubscribeKeysOf,
  writeUnsubscribeToken,
} from './tokens.ts'

const secrets = [randomBytes(32), randomBytes(32)] as const
const keys = unsubscribeKeysOf(secrets)

const whole: UnsubscribeToken = {
  accountId: '7',
  email: 'ada@example.com',
  listId: '300',
  messageId: randomUUID(),
}

test('a token gives back what it was made of, in a form that a link can carry', () => {
  const forms: UnsubscribeToken[] = [
    { accountId: '1', email: 'ada@example.com' },
    { accountId: '127', email: 'a@b.fr', listId: '128' },
    { accountId: '9223372036854775807', email: 'ada+news@example.com', listId: '9223372036854775807' },
    { accountId: '16384', email: "o'neil@example.com", messageId: randomUUID() },
    whole,
  ]
  for (const form of forms) {
    const token = writeUnsubscribeToken(keys, form)
    assert.match(token, /^v2\.[\w-]+$/)
    assert.deepEqual(readUnsubscribeToken(keys, token), form)
  }
  assert.ok(writeUnsubscribeToken(keys, whole).length < 80)
  const longest = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(58)}.example`
  const token = writeUnsubscribeToken(keys, { ...whole, accountId: '9'.repeat(18), email: longest })
  assert.equal(readUnsubscribeToken(keys, token)?.email, longest)
})

test('nothing of what it was made of can be read from it, and it is short', () => {
  const email = 'somebody.with-a-long-name@department.company.example'
  const token = writeUnsubscribeToken(keys, { ...whole, email })
  assert.ok(token.length < 200)
  assert.equal(token, writeUnsubscribeToken(keys, { ...whole, email }), 'the same each time')
  const bytes = Buffer.from(token.slice(3), 'base64url')
  assert.ok(!bytes.includes(email.slice(0, 4)) && !bytes.includes('company'))
  const other = Buffer.from(
    writeUnsubscribeToken(keys, { ...whole, email: `x${email}` }).slice(3),
    'base64url',
  )
  // Were the stream the same for both, the octets before the address would be.
  assert.notDeepEqual(other.subarray(16, 32), bytes.subarray(16, 32))
})

test('the links of mail that went out before addresses were hidden lead where they led', () => {
  const before = 'v1.AwysAgGYuKAREXIigzNERFVVZmZhZGFAZXhhbXBsZS5jb20PSKBSRWyd25_jnKP2Tgg5'
  assert.deepEqual(readUnsubscribeToken(unsubscribeKeysOf([secrets[0], Buffer.alloc(32, 7)]), before), {
    accountId: '12',
    email: 'ada@example.com',
    listId: '300',
    messageId: '0198b8a0-1111-7222-8333-444455556666',
  })
})

test('addresses are brought into the form that they are compared by', () => {
  const token = writeUnsubscribeToken(keys, { accountId: '1', email: 'Ada@Exämple.com' })
  assert.equal(readUnsubscribeToken(keys, token)?.email, 'ada@xn--exmple-cua.com')
})

test('what an older key signed is read, what a removed one signed is not', () => {
  const old = writeUnsubscribeToken(unsubscribeKeysOf([secrets[1]]), whole)
  assert.deepEqual(readUnsubscribeToken(keys, old), whole)
  assert.equal(readUnsubscribeToken(unsubscribeKeysOf([secrets[0]]), old), undefined)
  assert.equal(readUnsubscribeToken([], old), undefined)
  const fresh = writeUnsubscribeToken(keys, whole)
  assert.deepEqual(readUnsubscribeToken(unsubscribeKeysOf([secrets[0]]), fresh), whole)
})

test('no changed, shortened or foreign token is taken', () => {
  const token = writeUnsubscribeToken(keys, whole)
  const bytes = Buffer.from(token.slice(3), 'base64url')
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
    assert.equal(readUnsubscribeToken(keys, `v2.${changed.toString('base64url')}`), undefined)
    assert.equal(readUnsubscribeToken(keys, token.slice(0, at)), undefined)
  }
  const body = Buffer.from('\u0000\u0007ada@example.com')
  const bySecret = createHmac('sha256', secrets[0]).update('v1.').update(body).digest().subarray(0, 16)
  const forms = [
    '',
    'v1.',
    'v1.AAAA',
    `v1.${token.slice(3)}`,
    `v3.${token.slice(3)}`,
    'v2.',
    'v2.AAAA',
    token.slice(3),
    `${token}=`,
    `${token}A`,
    `${token}\u0000`,
    token.toUpperCase(),
    `v1.${Buffer.concat([body, bySecret]).toString('base64url')}`,
    `v1.${'A'.repeat(100_000)}`,
    `v2.${'A'.repeat(100_000)}`,
    `v2.${bytes.toString('base64')}`,
  ].filter((form) => form !== token)
  for (const form of forms) assert.equal(readUnsubscribeToken(keys, form), undefined, form.slice(0, 90))
})

test('a token of nobody is not made', () => {
  const bad: Partial<UnsubscribeToken>[] = [
    { email: 'nobody' },
    { accountId: '-1' },
    { accountId: '9223372036854775808' },
    { listId: '1.5' },
    { messageId: 'msg_1' },
  ]
  for (const part of bad) assert.throws(() => writeUnsubscribeToken(keys, { ...whole, ...part }), TypeError)
  assert.throws(() => writeUnsubscribeToken([], whole), /no key/)
})

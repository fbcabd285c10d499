import assert from 'node:assert/strict'
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { clickToken, openToken, readToken, type TrackingKeys } from './tokens.ts'

const keysWith = (id: number, others: [number, Buffer][] = []): TrackingKeys => {
  const key = randomBytes(32)
  return { current: { id, key }, all: new Map([...others, [id, key]]) }
}

const keys = keysWith(7)
const messageId = '0192f3c4-5d6e-7f80-9a1b-2c3d4e5f6071'

const url = fc.oneof(
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.string({ unit: 'grapheme' }).map((rest) => `https://example.com/${rest.replace(/\p{Cc}/gu, '')}`),
  fc.constantFrom('https://www.', 'http://x', 'HTTPS://EXAMPLE.com/a?b=1&c=%20', 'https://é.example/ü'),
)

test('a token gives back what was put in', () => {
  fc.assert(
    fc.property(fc.uuid(), url, (id, target) => {
      assert.deepEqual(readToken(keys, openToken(keys, id)), { kind: 'open', messageId: id })
      const click = readToken(keys, clickToken(keys, id, target))
      assert.deepEqual(click, { kind: 'click', messageId: id, url: target.toWellFormed() })
    }),
  )
})

test('a token is short and fit for a path', () => {
  const open = openToken(keys, messageId)
  const click = clickToken(keys, messageId, 'https://www.example.com/offer?id=12')
  assert.equal(open.length, 47)
  assert.ok(click.length <= 47 + 32, String(click.length))
  assert.match(open + click, /^[\w-]+$/)
})

test('links in mail that went out with the codes of before still lead to their target', () => {
  const head = Buffer.from([(1 << 4) | 2, 0, 7])
  const id = Buffer.from(messageId.replaceAll('-', ''), 'hex')
  const body = Buffer.concat([head, id, Buffer.from('example.com/offer')])
  const code = createHmac('sha256', keys.current.key).update('posthorn tracking\0').update(body).digest()
  const token = Buffer.concat([body, code.subarray(0, 16)]).toString('base64url')
  assert.deepEqual(readToken(keys, token), { kind: 'click', messageId, url: 'https://example.com/offer' })
  const asNew = Buffer.concat([Buffer.from([(2 << 4) | 2]), Buffer.from(token, 'base64url').subarray(1)])
  assert.equal(readToken(keys, asNew.toString('base64url')), undefined)
})

test('a message id in capitals is the same message', () => {
  assert.equal(openToken(keys, messageId.toUpperCase()), openToken(keys, messageId))
})

test('any change to a token makes it worthless', () => {
  const token = clickToken(keys, messageId, 'https://example.com/a')
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const changed = fc.tuple(fc.nat(token.length - 1), fc.constantFrom(...alphabet))
  fc.assert(
    fc.property(changed, ([at, letter]) => {
      const forged = token.slice(0, at) + letter + token.slice(at + 1)
      assert.equal(readToken(keys, forged) === undefined, forged !== token)
    }),
    { numRuns: 2_000 },
  )
  for (let length = 0; length < token.length; length++)
    assert.equal(readToken(keys, token.slice(0, length)), undefined)
})

test('one token has one spelling', () => {
  const token = openToken(keys, messageId)
  for (const other of [
    `${token}=`,
    `${token}A`,
    ` ${token}`,
    `${token}\n`,
    token.replace('-', '+'),
    `${token}.`,
  ])
    if (other !== token) assert.equal(readToken(keys, other), undefined, other)
})

test('rubbish is no token', () => {
  fc.assert(fc.property(fc.string(), (rubbish) => assert.equal(readToken(keys, rubbish), undefined)))
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) =>
      assert.equal(readToken(keys, Buffer.from(bytes).toString('base64url')), undefined),
    ),
  )
  assert.equal(readToken(keys, 'A'.repeat(1_000_000)), undefined)
})

test('an open cannot be made a click, nor the target another', () => {
  const open = Buffer.from(openToken(keys, messageId), 'base64url')
  open[0] = (open[0] ?? 0) | 2
  assert.equal(readToken(keys, open.toString('base64url')), undefined)
  const body = Buffer.from(clickToken(keys, messageId, 'https://good.example'), 'base64url')
  const evil = Buffer.from(body.toString('latin1').replace('good', 'evil'), 'latin1')
  assert.equal(readToken(keys, evil.toString('base64url')), undefined)
})

test('tokens of an old key are read after a change of keys, those of a foreign key never', () => {
  const token = openToken(keys, messageId)
  const next = keysWith(8, [[7, keys.current.key]])
  assert.equal(readToken(next, token)?.messageId, messageId)
  assert.equal(readToken(keysWith(8), token), undefined)
  assert.equal(readToken(keysWith(7), token), undefined)
  assert.notEqual(openToken(next, messageId), token)
})

test('the current key need not be in the list as well', () => {
  const alone = { current: keys.current, all: new Map<number, Buffer>() }
  assert.equal(readToken(alone, openToken(keys, messageId))?.kind, 'open')
})

test('only web addresses of sensible length become a click', () => {
  const bad = [
    'javascript:alert(1)',
    'mailto:a@example.com',
    '//example.com',
    '',
    'https://a\r\nSet-Cookie: x',
  ]
  for (const each of bad) assert.throws(() => clickToken(keys, messageId, each), TypeError)
  assert.throws(() => clickToken(keys, messageId, `https://example.com/${'x'.repeat(9_000)}`), RangeError)
  assert.throws(() => openToken(keys, 'not-a-uuid'), TypeError)
  assert.throws(() => openToken(keysWith(70_000), randomUUID()), RangeError)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { composeMail } from './compose.ts'
import { mailWith } from './fixtures/mail.ts'
import {
  faultOfHeader,
  hasControl,
  isContentType,
  isStructural,
  isWireAddress,
  structuralHeaders,
} from './safe.ts'

test('control characters', () => {
  for (const bad of [
    '\r',
    '\n',
    '\0',
    '\x1b',
    '\x7f',
    '\u0085',
    '\u2028',
    '\u2029',
    '\ud83c',
    '\udfba',
    '\v',
    '\f',
  ])
    assert.ok(hasControl(`a${bad}b`), JSON.stringify(bad))
  for (const good of ['', 'a\tb', 'é', '🎺', '日本', '\u200d', 'a b']) assert.ok(!hasControl(good), good)
})

test('customers may set their own headers and the unsubscribe ones, not those of the structure', () => {
  for (const name of [
    'X-Order',
    'List-Unsubscribe',
    'List-Unsubscribe-Post',
    'List-Id',
    'References',
    'Precedence',
  ])
    assert.equal(faultOfHeader(name, '<x>'), undefined, name)
  for (const name of [
    'From',
    'bcc',
    'Content-Foo',
    'ARC-Seal',
    'X-Posthorn-Id',
    'x-ses-configuration-set',
    'Feedback-ID',
    'Api-Key',
    'Authorization',
  ])
    assert.match(faultOfHeader(name, 'x') ?? '', /cannot be set/, name)
  for (const name of structuralHeaders) assert.ok(isStructural(name) && name === name.toLowerCase())
})

test('the fault is said as a sentence', () => {
  assert.match(faultOfHeader('X A', 'x') ?? '', /^A header name has 1 to 126 .*\.$/)
  assert.match(faultOfHeader('', 'x') ?? '', /^A header name/)
  assert.match(faultOfHeader('x'.repeat(127), 'x') ?? '', /^A header name/)
  assert.match(faultOfHeader('X-A', 'a\nb') ?? '', /line break or control character\.$/)
  assert.match(faultOfHeader('List-Unsubscribe', '<https://ü.example>') ?? '', /only ASCII characters\.$/)
  assert.match(faultOfHeader('X-A', 'ü'.repeat(400)) ?? '', /longer than 996 octets/)
  assert.match(faultOfHeader('X-A', 'ü'.repeat(5_000_000)) ?? '', /longer than 996 octets/)
})

test('what has no fault can be composed', () => {
  const values = [
    '',
    ' ',
    'x'.repeat(991),
    `${'word '.repeat(190)}`,
    'ü'.repeat(200),
    '=?utf-8?Q?=0A?=',
    '\t',
  ]
  for (const value of values) {
    assert.equal(faultOfHeader('X-A', value), undefined, value)
    composeMail(mailWith({ headers: [['X-A', value]] }))
  }
})

test('addresses and content types', () => {
  for (const good of [
    'a@b.example',
    'a.b+c@xn--bcher-kva.example',
    '"a b"@c.example',
    'a@[192.0.2.1]',
    "o'neil@x.example",
  ])
    assert.ok(isWireAddress(good), good)
  for (const bad of ['a@', '@b', 'a@b>c', 'a@b c', 'a@é.example', '"a"b"@c', 'a@b.example\n'])
    assert.ok(!isWireAddress(bad), bad)
  for (const good of [
    'image/png',
    'application/vnd.ms-excel',
    'text/plain; charset=utf-8',
    'text/plain;charset="utf-8"',
  ])
    assert.ok(isContentType(good), good)
  for (const bad of ['', 'png', 'image/', 'image/png;', 'image/png\r\nX: y', 'image/png; a="b"c"', 'a/b/c'])
    assert.ok(!isContentType(bad), bad)
})

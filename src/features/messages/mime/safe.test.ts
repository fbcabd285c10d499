import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { composeMail } from './compose.ts'
import { assertWire, headLines, mailWith } from './fixtures/mail.ts'
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

test('of names and values around the longest line, each is refused by name or can be composed', () => {
  const composable = { ascii: 0, other: 0 }
  for (const nameLength of [1, 3, 10, 36, 37, 38, 76, 125, 126])
    for (let length = 980 - nameLength; length <= 1000; length++)
      for (const value of ['x'.repeat(length), `${'x'.repeat(length - 1)}ü`, `a ${'x'.repeat(length - 2)}`]) {
        const name = 'X'.repeat(nameLength)
        const fault = faultOfHeader(name, value)
        if (fault !== undefined) {
          assert.match(fault, /is longer than 996 octets when encoded\.$/)
          continue
        }
        const raw = composeMail(mailWith({ headers: [[name, value]] }))
        assert.ok(headLines(raw).every((line) => line.length <= 998))
        composable[value.includes('ü') ? 'other' : 'ascii']++
      }
  assert.ok(composable.ascii > 0)
  // Encoded, so long a value is always too long.
  assert.equal(composable.other, 0)
  assert.equal(faultOfHeader('X-A', ' '.repeat(3) + 'x'.repeat(991)), undefined)
  assert.match(faultOfHeader('X-A', 'x'.repeat(992)) ?? '', /longer than 996/)
})

test('whatever is accepted as a header can be composed', () => {
  const unit = fc.constantFrom('x', ' ', '\t', 'ü', '🎺', '=?', '"', 'xxxxxxxxxx')
  const value = fc.oneof(
    fc.array(unit, { maxLength: 1_000 }).map((units) => units.join('')),
    fc.tuple(fc.nat(1_000), fc.array(unit, { maxLength: 4 })).map(([n, end]) => 'x'.repeat(n) + end.join('')),
  )
  const name = fc.oneof(
    fc.constantFrom('List-Unsubscribe', 'References', 'List-Unsubscribe-Post'),
    fc.integer({ min: 1, max: 126 }).map((length) => 'X'.repeat(length)),
  )
  let accepted = 0
  fc.assert(
    fc.property(name, value, (header, text) => {
      if (faultOfHeader(header, text) !== undefined) return
      accepted++
      assertWire(composeMail(mailWith({ headers: [[header, text]] })))
    }),
    { numRuns: 2_000 },
  )
  assert.ok(accepted > 200, String(accepted))
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

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { faultOfMailParams, readPath } from './paths.ts'

const good: [string, string][] = [
  ['FROM:<a@b.test>', 'a@b.test'],
  ['from:<a@b.test>', 'a@b.test'],
  ['FROM: <a@b.test>', 'a@b.test'],
  ['FROM:a@b.test', 'a@b.test'],
  ['FROM:<>', ''],
  ['FROM:<@hop.test,@hop2.test:a@b.test>', 'a@b.test'],
  ['FROM:<"a b"@b.test>', '"a b"@b.test'],
  ['FROM:<"a\\"> b"@b.test>', '"a\\"> b"@b.test'],
  ["FROM:<o'neil+tag/x=y@b.test>", "o'neil+tag/x=y@b.test"],
  ['FROM:<a@[192.0.2.1]>', 'a@[192.0.2.1]'],
  ['FROM:<a@[IPv6:2001:db8::1]>', 'a@[IPv6:2001:db8::1]'],
  ['FROM:<a@xn--bcher-kva.test>', 'a@xn--bcher-kva.test'],
]

for (const [argument, address] of good)
  test(`${argument} names ${address || 'nobody'}`, () => {
    assert.deepEqual(readPath(argument, 'FROM:'), { address, params: [] })
  })

const bad = [
  'FROM',
  'FROM:',
  'FROM:<',
  'FROM:<a@b.test',
  'FROM:a@b.test>',
  'FROM:<a@b.test>SIZE=1',
  'FROM:<a>',
  'FROM:<@b.test>',
  'FROM:<a@>',
  'FROM:<a@@b.test>',
  'FROM:<a..b@b.test>',
  'FROM:<.a@b.test>',
  'FROM:<a b@b.test>',
  'FROM:<a@-b.test>',
  'FROM:<a@b-.test>',
  'FROM:<a@b..test>',
  'FROM:<a@b.test.>',
  'FROM:<"a@b.test>',
  `FROM:<${'a'.repeat(65)}@b.test>`,
  `FROM:<a@${'b'.repeat(64)}.test>`,
  `FROM:<a@${'b.'.repeat(130)}test>`,
]

for (const argument of bad)
  test(`${argument.slice(0, 60)} names nobody`, () => {
    assert.equal(readPath(argument, 'FROM:'), 'malformed')
  })

test('parameters follow the path', () => {
  assert.deepEqual(readPath('TO:<a@b.test>  X=1   Y', 'TO:'), { address: 'a@b.test', params: ['X=1', 'Y'] })
})

test('an address that needs SMTPUTF8 is told apart', () => {
  assert.equal(readPath('TO:<\u00e9@b.test>', 'TO:'), 'not ascii')
  assert.equal(readPath('TO:<a@b\u00fccher.test>', 'TO:'), 'not ascii')
})

test('a parameter given twice is malformed', () => {
  assert.equal(faultOfMailParams(['SIZE=1', 'size=2'], 10), 'malformed')
  assert.equal(faultOfMailParams(['SIZE=1', 'BODY=7bit'], 10), undefined)
  assert.equal(faultOfMailParams(['SIZE'], 10), 'malformed')
  assert.equal(faultOfMailParams(['=1'], 10), 'unknown')
})

test('a path is read in no time, whatever it is', () => {
  const hard = [
    'a.'.repeat(1_000),
    '"\\'.repeat(600),
    '@a,'.repeat(600),
    `a@${'b-'.repeat(900)}`,
    '<@'.repeat(900),
  ]
  for (const text of hard) readPath(`FROM:<${text}`, 'FROM:')
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary-ascii', maxLength: 500 }),
      (text) => void readPath(`TO:${text}`, 'TO:'),
    ),
  )
})

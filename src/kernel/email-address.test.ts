import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quickest } from '../../test/quickest.ts'
import { normalDomain, normalEmail } from './email-address.ts'

test('an address is brought into one form', () => {
  const cases = [
    ['Anna@Example.COM', 'anna@example.com'],
    [' anna@example.com. ', 'anna@example.com'],
    ['anna@exämple.com', 'anna@xn--exmple-cua.com'],
    ['anna@1und1.example', 'anna@1und1.example'],
    ['anna@163.com', 'anna@163.com'],
  ]
  for (const [given, wanted] of cases) assert.equal(normalEmail(given ?? ''), wanted, given)
})

test('what only resembles an address is never taken for another one', () => {
  const hosts = [
    'example.com/x',
    'example.com?subject=Hi',
    'example.com#x',
    'exa%6dple.com',
    'example.com\\x',
  ]
  const numbers = ['0', '1.5', '127.1', '0x7f.1', '192.0.2.1', 'example.7']
  for (const given of [
    ...hosts,
    ...numbers,
    'exam\tple.com',
    'exam ple.com',
    'example.com:25',
    'a@example.com',
  ]) {
    assert.equal(normalDomain(given), undefined, given)
    assert.equal(normalEmail(`anna@${given}`), undefined, given)
  }
})

test('an endless domain in any letters is refused in no time', async () => {
  const letters = Array.from({ length: 100_000 }, (_, i) =>
    String.fromCodePoint(0x4e00 + ((i * 7919) % 20_000)),
  )
  const took = await quickest(500, () =>
    assert.equal(normalEmail(`anna@${letters.join('')}.example`), undefined),
  )
  assert.ok(took < 500, `${took} ms`)
  assert.equal(normalEmail(`anna@${'\u00ad'.repeat(500)}bücher.example`), 'anna@xn--bcher-kva.example')
})

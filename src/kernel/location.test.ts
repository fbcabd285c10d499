import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { quickest } from '../../test/quickest.ts'
import { locationOf } from './location.ts'

test('an address becomes ASCII and leads where it led', () => {
  const cases: [string, string | undefined][] = [
    ['https://a.example/€', 'https://a.example/%E2%82%AC'],
    ['https://日本.example/パス?q=😀', 'https://xn--wgv71a.example/%E3%83%91%E3%82%B9?q=%F0%9F%98%80'],
    ['https://shop.example/café?name=Zoë', 'https://shop.example/caf%C3%A9?name=Zo%C3%AB'],
    ['https://a.example/x y?q=a b', 'https://a.example/x%20y?q=a%20b'],
    ['https://a.example/\ud800', 'https://a.example/%EF%BF%BD'],
    ['https://a.example/\r\nset-cookie: x', 'https://a.example/set-cookie:%20x'],
    ['https://[bad/', undefined],
    ['https://a b.example/', undefined],
    ['/relative', undefined],
    ['javascript:alert(1)', undefined],
  ]
  for (const [given, wanted] of cases) assert.equal(locationOf(given), wanted, given)
})

test('what is plain already keeps its spelling', () => {
  const kept = [
    'https://x.example',
    'HTTP://X.example/%7e/../a?b=100%&c=[1]#d',
    'https://u:p@x.example:443/?',
  ]
  for (const address of kept) assert.equal(locationOf(address), address)
})

test('whatever it is given, a header can hold it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const location = locationOf(`https://a.example/${text}`)
      assert.ok(location === undefined || /^[\x21-\x7e]+$/.test(location))
    }),
  )
})

test('an endless host in any letters is refused in no time', async () => {
  const letters = Array.from({ length: 100_000 }, (_, i) =>
    String.fromCodePoint(0x4e00 + ((i * 7919) % 20_000)),
  )
  const took = await quickest(500, () =>
    assert.equal(locationOf(`https://${letters.join('')}.example`), undefined),
  )
  assert.ok(took < 500, `${took} ms`)
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { canonicalJson, parseJson } from './json.ts'
import { Refusal } from './refusal.ts'

const parse = (text: string) => parseJson(Buffer.from(text))

function refusalOf(raw: Buffer | string): Refusal {
  try {
    parseJson(Buffer.from(raw))
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('it was taken')
}

describe('reading JSON', () => {
  test('a mark of the byte order before the text is no part of it', () => {
    assert.deepEqual(parseJson(Buffer.from('\uFEFF{"a":"\uFEFF"}')), { a: '\uFEFF' })
  })

  test('any JSON value is taken as it stands', () => {
    for (const value of [null, 0, 'é😀', [], {}, { a: [1, { b: 'c' }] }]) {
      assert.deepEqual(parse(JSON.stringify(value)), value)
    }
  })

  test('bytes that are not UTF-8 are refused, not replaced', () => {
    assert.match(refusalOf(Buffer.from([0x22, 0xff, 0x22])).message, /not UTF-8/)
  })

  test('a text that ends too early is told so', () => {
    for (const text of ['', '{', '[1,']) assert.match(refusalOf(text).message, /ends too early/, text)
  })

  test('the place of a fault is told by line and column', () => {
    const { code, message } = refusalOf(`{\n  "a": 1,,\n "long enough to be cut": 2, "b": 3 }`)
    assert.equal(code, 'malformed_json')
    assert.match(message, /line 2, column 10/)
  })

  test('what was sent is not given back', () => {
    for (const text of [
      '{"a": hunter2}',
      'hunter2',
      '{"hunter2": tru}',
      '{"a": "hunter2\n"}',
      '"hunter2" x',
    ]) {
      assert.doesNotMatch(refusalOf(text).message, /hunter2/)
    }
  })

  test('half a million objects and lists are taken, one more is refused', () => {
    for (const one of ['{}', '[]', '{"a":1}']) {
      const many = (count: number) => `[${`${one},`.repeat(count - 2)}${one}]`
      assert.equal((parse(many(500_000)) as unknown[]).length, 499_999)
      assert.match(refusalOf(many(500_001)).message, /more than 500000 objects and lists/)
    }
  })

  test('ten thousand fields of an object are taken, one more is refused', () => {
    const fields = (count: number) =>
      Array.from({ length: count }, (_, n) => `"k\\"${n}": ":{[\\\\"`).join(',')
    for (const make of [
      (count: number) => `{${fields(count)}}`,
      (count: number) => `[{"a": [{${fields(count)}}, {"b": 1}]}]`,
    ]) {
      assert.ok(parse(make(10_000)))
      assert.match(refusalOf(make(10_001)).message, /more than 10000 fields/)
    }
    const many = `[${Array.from({ length: 30 }, () => `{${fields(1_000)}}`).join()}]`
    assert.ok(parse(many))
  })

  test('a hundred levels are taken, one more is refused', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    for (const make of [nested, objects]) {
      assert.ok(parse(make(100)))
      assert.match(refusalOf(make(101)).message, /deeper than 100/)
    }
    assert.match(refusalOf('['.repeat(1_000_000)).message, /deeper than 100/)
  })

  test('brackets inside text do not count as levels', () => {
    const text = JSON.stringify({ note: `${'['.repeat(500)}"\\${'{'.repeat(500)}` })
    assert.deepEqual(Object.keys(parse(text) as object), ['note'])
    const wide = JSON.stringify(Array.from({ length: 500 }, () => [[]]))
    assert.equal((parse(wide) as unknown[]).length, 500)
  })
})

describe('canonical JSON', () => {
  test('the order of keys does not matter, at any depth', () => {
    const one = { a: 1, b: { c: [{ d: 1, e: 2 }], 10: 'x', 9: 'y' } }
    const other = { b: { 9: 'y', 10: 'x', c: [{ e: 2, d: 1 }] }, a: 1 }
    assert.equal(canonicalJson(one), canonicalJson(other))
  })

  test('different values have different texts', () => {
    const values = [
      1,
      '1',
      [1],
      { a: 1 },
      { a: '1' },
      { a: null },
      {},
      [],
      null,
      [[1], 2],
      [1, [2]],
      [2, 1],
      [1, 2],
    ]
    assert.equal(new Set(values.map(canonicalJson)).size, values.length)
  })

  test('a key named __proto__ is a key like any other', () => {
    const hostile = parse('{"__proto__": {"a": 1}, "b": 2}')
    assert.equal(canonicalJson(hostile), '{"__proto__":{"a":1},"b":2}')
  })
})

test('escapes of what no database column can hold are refused; whole pairs are not', () => {
  for (const text of ['"\\u0000"', '{"a":["x\\ud83d"]}', '{"\\udc00":1}', '["\\uD83Dx\\uDE00"]'])
    assert.match(refusalOf(text).message, /NUL or half of a surrogate pair/, text)
  assert.deepEqual(parse('["\\ud83d\\ude00", "\\\\u0000"]'), ['😀', '\\u0000'])
})

test('many brackets that do not nest are no depth', () => {
  const flat = JSON.stringify(Array.from({ length: 500 }, () => ({ text: '[[[{{{' })))
  assert.equal((parse(flat) as unknown[]).length, 500)
})

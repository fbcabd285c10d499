// What no caller means to send, and every caller sends some day.
import type { Dice } from './dice.ts'

/** Stands in HTML only where something forgot to escape it. */
export const mark = '<fuzz-mark a="1">'

const fragments = [
  "'; drop table accounts; --",
  "' or 1=1 --",
  '$1',
  '%s%n',
  '\\',
  '"',
  '{{ 7 | times: 7 }}',
  '{{',
  '{% for i in (1..100000000) %}x{% endfor %}',
  '{% if %}',
  '{% include "x" %}',
  '{{ contact.__proto__.constructor }}',
  '{{ params.constructor.constructor }}',
  '{{ "x" | date: "%" }}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what somebody else's templates look like
  '${7*7}',
  mark,
  `"><script>alert(1)</script>${mark}`,
  '../../etc/passwd',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'http://127.0.0.1:1/',
  'http://[::1]:1/',
  'https://user:pass@127.0.0.1/',
  'a\r\nbcc: someone@example.com',
  'a\nb',
  '=cmd|calc!A1',
  '%00',
  '%',
]

const unicode = [
  '\u0000',
  'a\u0000b',
  '\ud800',
  'x\udc00y',
  '\u202eabc',
  '\ufeff',
  '\u2028',
  '\u0085',
  'e\u0301'.repeat(40),
  '👩‍👩‍👧‍👦'.repeat(20),
  'İ',
  'ß',
  'ﷺ'.repeat(30),
  '\u{10ffff}',
  '\u200b',
  ' ',
  '\t',
]

const prototypeNames = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  'then',
]

const addresses = [
  'a@b',
  '@',
  'a@@b.com',
  `${'a'.repeat(64)}@example.com`,
  `${'a'.repeat(300)}@example.com`,
  'a@example.com, b@example.com',
  '"a b"@example.com',
  'ü@exämple.de',
  'a@xn--zzzzzz',
  'a@[127.0.0.1]',
  'Anna <anna@example.com>',
  '<anna@example.com>',
  'ANNA@EXAMPLE.COM',
  'anna@example.com\u0000',
  'anna%40example.com',
]

const times = [
  '0000-00-00',
  '2026-02-30',
  '9999-12-31T23:59:59Z',
  '+275760-09-13T00:00:00.000Z',
  '+275760-09-14T00:00:00.000Z',
  '-000001-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '2026-11-15T24:00:00Z',
  '2026-11-15T09:30:60Z',
  '2026-11-15T09:30:00+99:99',
  '2026-11-15T09:30:00+14:00',
  '1e400',
  '2026-11-15',
  'now',
  'infinity',
  '-infinity',
  'epoch',
]

const numerals = [
  '0',
  '-1',
  '1.5',
  '1e3',
  '1e400',
  '0x10',
  '٣',
  ' 1',
  '1 ',
  '9007199254740993',
  '9223372036854775808',
]

export function oddText(dice: Dice): string {
  const kind = dice.below(8)
  if (kind === 0) return dice.pick(fragments)
  if (kind === 1) return dice.pick(unicode)
  if (kind === 2) return dice.pick(addresses)
  if (kind === 3) return dice.pick(times)
  if (kind === 4) return dice.pick(numerals)
  if (kind === 5) return dice.pick(prototypeNames)
  if (kind === 6)
    return dice
      .pick(['x', 'é', '\n', '9', '{{', '<', '@', '.'])
      .repeat(dice.pick([256, 1_001, 5_000, 70_000]))
  return dice.pick(['', 'null', 'undefined', 'NaN', 'true', '[]', '{}', '-', '*', ','])
}

const oddNumbers = [
  0,
  -0,
  -1,
  0.1,
  1.5,
  -2.75,
  1e-7,
  1e21,
  1e308,
  -1e308,
  5e-324,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 53 + 2,
  2 ** 63,
  2 ** 64,
  99_999,
]

export const oddNumber = (dice: Dice): number => dice.pick(oddNumbers)

export const oddName = (dice: Dice): string =>
  dice.pick([...prototypeNames, '', 'a.b', 'a[0]', '\u0000', 'x'.repeat(300), '$ref', '😀', 'id'])

/** A value of any type at all. */
export function oddValue(dice: Dice): unknown {
  const kind = dice.below(10)
  if (kind < 4) return oddText(dice)
  if (kind < 6) return oddNumber(dice)
  if (kind === 6) return dice.pick([null, true, false])
  if (kind === 7)
    return dice.pick([[], [[]], [null], [{}], Array(dice.pick([2, 101, 1_001, 5_000])).fill(oddNumber(dice))])
  if (kind === 8) return objectOf([[oddName(dice), dice.chance(0.5) ? oddText(dice) : oddNumber(dice)]])
  return nested(dice.pick([2, 20, 99, 120]), dice.chance(0.5))
}

/** Also with a field that is really called __proto__. */
export function objectOf(entries: [string, unknown][]): object {
  return Object.fromEntries(entries)
}

function nested(depth: number, inLists: boolean): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = inLists ? [value] : { a: value }
  return value
}

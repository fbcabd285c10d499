import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { countParts } from './count-parts.ts'

const parts = (text: string) => countParts(text).parts

test('160 characters are one SMS, 161 two; parts of several hold 153', () => {
  assert.deepEqual(countParts('a'.repeat(160)), { encoding: 'gsm7', units: 160, parts: 1 })
  assert.deepEqual(
    [161, 306, 307].map((count) => parts('a'.repeat(count))),
    [2, 2, 3],
  )
})

test('outside GSM-7 they hold 70, or 67 each', () => {
  assert.deepEqual(countParts(`ê${'a'.repeat(69)}`), { encoding: 'ucs2', units: 70, parts: 1 })
  assert.deepEqual(
    [71, 134, 135].map((count) => parts('ç'.repeat(count))),
    [2, 2, 3],
  )
})

test('French letters: which of them make a text UCS-2', () => {
  for (const letter of 'àèéùìòÇÉÄÖÜäöüñ') assert.equal(countParts(letter).encoding, 'gsm7', letter)
  for (const letter of 'çêëâîïôûœÀ«»’–…`') assert.equal(countParts(letter).encoding, 'ucs2', letter)
})

test('characters of the extension cost two and are not cut', () => {
  assert.deepEqual(countParts('€'.repeat(80)), { encoding: 'gsm7', units: 160, parts: 1 })
  assert.equal(parts('€'.repeat(81)), 2)
  // 76 pairs leave one unit of a part unused.
  assert.deepEqual(
    [152, 153].map((count) => parts('€'.repeat(count))),
    [2, 3],
  )
  assert.equal(parts(`${'a'.repeat(152)}€${'a'.repeat(151)}`), 2)
  assert.equal(parts(`${'a'.repeat(152)}€${'a'.repeat(152)}`), 3)
})

test('an emoji costs two and is not cut', () => {
  assert.deepEqual(
    [35, 36, 66, 67].map((count) => parts('😀'.repeat(count))),
    [1, 2, 2, 3],
  )
})

const gsm7 = fc.constantFrom(...'aZ09 @£\n§ñà€{}[]~|^\\')
const any = fc.oneof(gsm7, fc.constantFrom('ç', 'ê', '’', '漢', '😀'))

test('a part is never fuller than it can be, and no text needs more than one unit in vain for each', () => {
  fc.assert(
    fc.property(fc.array(any, { maxLength: 700 }), (characters) => {
      const { encoding, units, parts: count } = countParts(characters.join(''))
      const [alone, each] = encoding === 'gsm7' ? [160, 153] : [70, 67]
      if (units <= alone) return count === 1
      return count * each >= units && (count - 1) * (each - 1) < units
    }),
  )
})

test('a longer text is never fewer parts', () => {
  fc.assert(
    fc.property(fc.array(any, { maxLength: 400 }), any, (characters, one) => {
      const text = characters.join('')
      return parts(text + one) >= parts(text)
    }),
  )
})

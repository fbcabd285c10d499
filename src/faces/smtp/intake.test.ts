import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isTooLarge, messageOf, newIntake, take } from './intake.ts'

const stuff = (message: string) => `${message.replace(/^\./, '..').replaceAll('\r\n.', '\r\n..')}.\r\n`

function cut(text: string, sizes: number[]): Buffer[] {
  const octets = Buffer.from(text, 'latin1')
  const pieces: Buffer[] = []
  let at = 0
  for (let turn = 0; at < octets.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1
    pieces.push(octets.subarray(at, at + size))
    at += size
  }
  return pieces
}

const line = fc.string({ unit: fc.constantFrom('.', 'a', ' ', '\u00e9'), maxLength: 20 })
const message = fc.array(line, { maxLength: 10 }).map((lines) => lines.map((text) => `${text}\r\n`).join(''))
const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 })

test('a message comes out as it was, however it is cut into pieces', () => {
  fc.assert(
    fc.property(message, sizes, (text, lengths) => {
      const intake = newIntake(10_000)
      const pieces = cut(stuff(text), lengths)
      const ends = pieces.map((piece) => take(intake, piece))
      assert.deepEqual(ends.slice(0, -1), Array(ends.length - 1).fill(-1))
      assert.equal(ends.at(-1), pieces.at(-1)?.length)
      assert.equal(intake.fault, undefined)
      assert.equal(messageOf(intake).toString('latin1'), text)
    }),
  )
})

const raw = fc.string({
  unit: fc.constantFrom('.', '\r', '\n', '\0', 'a', '\r\n', '\r\n.\r\n'),
  maxLength: 30,
})

test('the end is the first CR LF . CR LF and nothing else', () => {
  fc.assert(
    fc.property(raw, sizes, (text, lengths) => {
      const expected = `\r\n${text}`.indexOf('\r\n.\r\n')
      const intake = newIntake(10_000)
      let [seen, end] = [0, -1]
      for (const piece of cut(text, lengths)) {
        const found = take(intake, piece)
        if (found >= 0) end = seen + found
        if (found >= 0) break
        seen += piece.length
      }
      assert.equal(end, expected < 0 ? -1 : expected + 3)
      if (end < 0) return
      const content = text.slice(0, expected)
      const isBare = /\r(?!\n)|(?<!\r)\n/.test(content)
      assert.equal(intake.fault !== undefined, isBare || content.includes('\0'))
    }),
    { numRuns: 1_000 },
  )
})

test('a message past the limit is counted and not kept', () => {
  const intake = newIntake(100)
  for (let count = 0; count < 50; count += 1) take(intake, Buffer.from('x'.repeat(98).concat('\r\n')))
  assert.equal(intake.bytes, 5_000)
  assert.equal(intake.kept.length, 0)
  assert.equal(isTooLarge(intake), true)
})

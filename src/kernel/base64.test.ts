import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isBase64 } from './base64.ts'

test('says what the pattern of the alphabet says', () => {
  const padded = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
  const lax = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/
  const text = fc.string({ unit: fc.constantFrom('A', 'z', '9', '+', '/', '=', '-', ' ', '\n') })
  fc.assert(
    fc.property(text, (one) => {
      assert.equal(isBase64(one, { padded: true }), padded.test(one), one)
      assert.equal(isBase64(one, { padded: false }), lax.test(one), one)
    }),
    { numRuns: 5_000 },
  )
})

test('a file of twenty megabytes is looked at as well', () => {
  const text = Buffer.alloc(20 * 1024 * 1024, 7).toString('base64')
  assert.ok(isBase64(text, { padded: true }))
  assert.ok(!isBase64(`${text.slice(0, -1)}*`, { padded: false }))
})

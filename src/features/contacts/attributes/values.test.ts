import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quickest } from '../../../../test/quickest.ts'
import { readValue } from './values.ts'

const number = (given: unknown) => readValue({ type: 'float' } as never, given)

test('numbers as they are written', () => {
  const written = { '1': 1, '-1.5': -1.5, '+2.': 2, '.5': 0.5, '1,25': 1.25, ' 3e2 ': 300, '1.5E-1': 0.15 }
  for (const [text, value] of Object.entries(written)) assert.deepEqual(number(text), { value }, text)
  for (const text of ['.', '1.2.3', '1e', 'e5', '0x10', '1 2', '--1', 'Infinity'])
    assert.deepEqual(number(text), { fault: 'must be a number' }, text)
})

test('what has many digits and is no number is refused in no time', async () => {
  const text = `${'1'.repeat(1_000_000)}x`
  const took = await quickest(1_000, () => assert.deepEqual(number(text), { fault: 'must be a number' }))
  assert.ok(took < 1_000, `${took} ms`)
})

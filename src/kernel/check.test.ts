import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Type } from 'typebox'
import { checkMaker } from './check.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

test('what was refused is not kept', async () => {
  const check = checkMaker({})(Type.Object({ name: Type.String() }))
  const refused = (name: number[]) => {
    assert.equal(check({ name }).length, 1)
    return new WeakRef(name)
  }
  // Looked at whole, and up to its first fault.
  const kept = [refused([1]), refused(Array.from({ length: 6_000 }, () => 1))]
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  assert.deepEqual(
    kept.map((one) => one.deref()),
    [undefined, undefined],
  )
})

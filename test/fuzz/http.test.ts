// Bad requests at every operation. The long form is http.long.test.ts: npm run test:long
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertUnharmed, fireAll, makeTarget, seedOr, settled, stopAfter } from './barrage.ts'
import { checksumsOf } from './checksum.ts'

const target = await makeTarget()
stopAfter(target)

test('six thousand bad requests are answered, and another account does not notice', async () => {
  const before = await settled(target)
  const damage = await fireAll(target, { seed: seedOr(1), shots: 6_000, rounds: 1 })
  assertUnharmed(damage, target)
  assert.deepEqual(await checksumsOf(target.app.databaseUrl, target.theirs.accountId), before)
})

// The long form of http.test.ts: npm run test:long
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertUnharmed,
  fireAll,
  type Memory,
  makeTarget,
  memory,
  seedOr,
  settled,
  stopAfter,
} from './barrage.ts'
import { checksumsOf } from './checksum.ts'

const target = await makeTarget()
stopAfter(target)

const rounds = 20

test('two hundred thousand bad requests leave the service as it was', async (t) => {
  const before = await settled(target)
  const used: Memory[] = []
  const barrage = { seed: seedOr(2), shots: 200_000, rounds }
  const damage = await fireAll(target, barrage, (round) => {
    used.push(memory())
    t.diagnostic(`round ${round + 1} of ${rounds}: ${JSON.stringify(used.at(-1))}`)
  })
  assertUnharmed(damage, target)
  assert.deepEqual(await checksumsOf(target.app.databaseUrl, target.theirs.accountId), before)
  const [middle, end] = [used[rounds / 2 - 1] as Memory, used.at(-1) as Memory]
  assert.ok(end.heapMb < middle.heapMb * 1.1 + 10, `the heap grew from ${middle.heapMb} to ${end.heapMb} MB`)
  assert.ok(end.rssMb < middle.rssMb * 1.2 + 50, `the process grew from ${middle.rssMb} to ${end.rssMb} MB`)
})

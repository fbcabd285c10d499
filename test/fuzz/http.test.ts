import { test } from 'node:test'
import { assertUnharmed, fireAll, heapMb, makeTarget, stopAfter } from './barrage.ts'

const target = await makeTarget()
stopAfter(target)

test('six thousand bad requests', async () => {
  const s = Date.now()
  const p = fireAll(target, {
    seed: Number(process.env.POSTHORN_SEED ?? 1),
    shots: Number(process.env.SHOTS ?? 6_000),
    rounds: Number(process.env.ROUNDS ?? 2),
  })
  const damage = await p
  console.log(Date.now() - s, 'ms', heapMb())
  const { writeFileSync } = await import('node:fs')
  writeFileSync('/tmp/fuzz-damage.json', JSON.stringify({ damage, logged: target.logged }, null, 1))
  writeFileSync('/tmp/fuzz-times.json', JSON.stringify((globalThis as any).T))
  assertUnharmed(damage, target)
})

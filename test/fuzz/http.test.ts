import { test } from 'node:test'
import { assertUnharmed, fireAll, heapMb, makeTarget, stopAfter } from './barrage.ts'

const target = await makeTarget()
stopAfter(target)

test('six thousand bad requests', async () => {
  const s = Date.now()
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 20000 })
  await session.post('Profiler.start')
  const p = fireAll(target, {
    seed: Number(process.env.POSTHORN_SEED ?? 1),
    shots: Number(process.env.SHOTS ?? 6_000),
    rounds: Number(process.env.ROUNDS ?? 2),
    from: Number(process.env.FROM ?? 0),
  })
  const damage = await p
  const { profile } = await session.post('Profiler.stop')
  ;(await import('node:fs')).writeFileSync('/tmp/fuzz.cpuprofile', JSON.stringify(profile))
  console.log(Date.now() - s, 'ms', heapMb())
  const { writeFileSync } = await import('node:fs')
  writeFileSync('/tmp/fuzz-damage.json', JSON.stringify({ damage, logged: target.logged }, null, 1))
  writeFileSync('/tmp/fuzz-times.json', JSON.stringify((globalThis as any).T))
  assertUnharmed(damage, target)
})

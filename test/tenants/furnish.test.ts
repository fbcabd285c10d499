import test from 'node:test'
import { makeTarget, stopAfter } from '../fuzz/barrage.ts'
import { checksumsOf } from '../fuzz/checksum.ts'
import { furnish } from './furnish.ts'

const t = await makeTarget()
stopAfter(t)
test('x', async () => {
  const a = await t.app.makeAccount()
  const h = await furnish(t.app, a)
  console.log(h.ids)
  await new Promise((r) => setTimeout(r, 4000))
  console.log(Object.entries(await checksumsOf(t.app.databaseUrl, a.accountId)).filter(([, v]) => v.startsWith('0 ')))
  console.log(t.logged)
})

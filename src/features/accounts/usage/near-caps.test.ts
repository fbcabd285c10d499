import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { nobody } from '../../../kernel/ctx.ts'
import { runOnce } from '../../../kernel/job.ts'
import { sql } from '../../../kernel/sql.ts'
import { noteNearCaps } from './near-caps.ts'
import { spendUpTo } from './spend-sending.ts'

const app = await makeApp()
const { db } = app.pools
const noon = new Date('2026-11-15T12:00:00Z')

async function setUp({ cap = null as number | null, quota = null as number | null }) {
  const { accountId, key } = await app.makeAccount()
  const { id } = await app.makeKey({ dailyCap: cap }, accountId)
  await db.run(sql`update accounts set monthly_quota = ${quota} where id = ${accountId}`)
  const caller = { ...nobody, accountId, keyId: id, dailyCap: cap }
  const spend = (count: number, at = noon) => spendUpTo(db, caller, count, at)
  const run = (at = noon) =>
    runOnce({ name: 'caps.note', everySeconds: 60, run: noteNearCaps }, { db, now: () => at })
  const list = async (query = '?open=true') =>
    (await app.call('GET', `/api/v1/notices${query}`, { key })).body.data
  return { id, spend, run, list }
}

test('a key that has used four fifths of its cap is told of once, until the day is over', async () => {
  const { id, spend, run, list } = await setUp({ cap: 10 })
  await spend(7)
  await run()
  assert.deepEqual(await list(), [])
  await spend(1)
  await run()
  await run()
  const [notice, ...others] = await list()
  assert.deepEqual([notice.code, notice.subject], ['cap_near', `key_${id.replaceAll('-', '')}`])
  assert.deepEqual([notice.details, others], [{ used: 8, limit: 10, period: '2026-11-15' }, []])
  assert.match(notice.message, /has sent 8 of 10 messages/)
  const next = new Date('2026-11-16T00:00:30Z')
  await run(next)
  assert.deepEqual(await list(), [])
  await spend(9, next)
  await run(next)
  assert.equal((await list()).length, 1)
  // Nobody looked between two days that were both nearly used up.
  const third = new Date('2026-11-17T10:00:00Z')
  await spend(9, third)
  await run(third)
  assert.deepEqual((await list()).length, 1)
  assert.equal((await list())[0].details.period, '2026-11-17')
  assert.equal((await list('')).length, 3)
})

test('the monthly quota is told of, and a raised one takes it back', async () => {
  const { spend, run, list } = await setUp({ quota: 100 })
  await spend(85)
  await run()
  const [notice] = await list()
  assert.deepEqual([notice.subject, notice.details.period], ['monthly_quota', '2026-11'])
  await db.run(sql`update accounts set monthly_quota = 1000 where monthly_quota = 100`)
  await run()
  assert.deepEqual(await list(), [])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { until } from '../../../../test/until.ts'
import { int, row } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { giveBack, spend } from './queries.ts'

const app = await makeApp()
const { db } = app.pools

const waitsForLock = () =>
  db.run(sql`
    select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)

test('who gives back waits for who spends, and not each for the other', async () => {
  const { accountId } = app
  const { id: keyId } = await app.makeKey()
  const spending = { accountId, keyId, count: 5, month: '2026-11-01', day: '2026-11-18' }
  await spend(db, spending)
  let givenBack: Promise<unknown> = Promise.resolve()
  await db.transaction(async (tx) => {
    // As a spender has it who comes to the day next.
    await tx.run(sql`
      update sending_months set sent = sent + 2 where account_id = ${accountId} and month = ${spending.month}`)
    givenBack = giveBack(db, { ...spending, count: 1 })
    givenBack.catch(() => {})
    await until(async () => (await waitsForLock()) > 0, 'the other to wait')
    await tx.run(sql`
      update sending_days set sent = sent + 2 where account_id = ${accountId} and key_id = ${keyId}`)
  })
  await givenBack
  const Sent = row<{ month: number; day: number }>({ month: int, day: int })
  const sent = await db.one(
    Sent,
    sql`
    select m.sent::int as month, d.sent::int as day
      from sending_months m join sending_days d on d.account_id = m.account_id
     where m.account_id = ${accountId} and d.key_id = ${keyId}`,
  )
  assert.deepEqual(sent, { month: 6, day: 6 })
})

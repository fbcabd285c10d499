import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { firstUuidAt } from '../../../kernel/id.ts'
import { runOnce } from '../../../kernel/job.ts'
import { int, row } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { auditJobs } from './forget-lines.ts'

const app = await makeApp()
const { db } = app.pools
const now = new Date('2026-11-15T12:00:00Z')
const Count = row<{ count: number }>({ count: int })

const daysAgo = (days: number) => new Date(now.getTime() - days * 24 * 3_600_000)

/** So many lines of that age, one a millisecond. */
async function addLines(accountId: string, days: number, count: number) {
  const at = daysAgo(days).getTime()
  const ids = Array.from({ length: count }, (_, i) => firstUuidAt(at + i))
  await db.run(sql`
    insert into audit_lines (id, account_id, at, key_id, operation, params, status, request_id)
    select i, ${accountId}, ${daysAgo(days)}, gen_random_uuid(), 'email.send', '{}', 202, 'r'
      from unnest(${ids}::uuid[]) i`)
}

const linesOf = async (accountId: string) =>
  (await db.one(Count, sql`select count(*)::int as count from audit_lines where account_id = ${accountId}`))
    .count

test('lines of the action log go after the days that are set, of every account; 0 keeps them', async () => {
  const other = await app.makeAccount()
  await addLines(app.accountId, 91, 12_000)
  await addLines(app.accountId, 89, 7)
  await addLines(other.accountId, 400, 3)
  assert.deepEqual(auditJobs(0), [])
  const [job] = auditJobs(90)
  assert.ok(job)
  // Several processes at once.
  await Promise.all([runOnce(job, { db, now: () => now }), runOnce(job, { db, now: () => now })])
  await runOnce(job, { db, now: () => now })
  assert.deepEqual([await linesOf(app.accountId), await linesOf(other.accountId)], [7, 0])
})

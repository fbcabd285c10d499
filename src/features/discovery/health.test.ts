import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import type { Log } from '../../kernel/log.ts'
import { silentLog } from '../../kernel/log.ts'
import { sql } from '../../kernel/sql.ts'
import { pingDatabase } from './health.ts'

const errors: string[] = []
const log: Log = Object.assign(Object.create(silentLog), {
  error: ({ err }: { err?: Error }, about: string) =>
    errors.push(`${about}: ${(err?.cause as Error)?.message}`),
})
const app = await makeApp({ log })
const { db } = app.pools

test('a database that only reads is told as one that is away', async () => {
  assert.match((await pingDatabase(db)).version, /^\d+/)
  const reading = db.transaction(async (tx) => {
    await tx.run(sql`set transaction read only`)
    await pingDatabase(tx)
  })
  await assert.rejects(reading, { code: 'database_unavailable' })
})

test('a disk that is full is told by the report and the log, not only by refused calls', async () => {
  const health = async () => (await app.call('GET', '/api/v1/health')).body
  const before = await health()
  assert.deepEqual([before.status, before.database.state], ['ok', 'ok'])
  await db.run(sql`
    create function full_disk() returns trigger language plpgsql as $$
    begin raise sqlstate '53100' using message = 'could not extend file: No space left on device'; end $$`)
  await db.run(
    sql`create trigger full_disk before insert on suppressions for each row execute function full_disk()`,
  )
  const body = { email: 'a@b.example', reason: 'manual' }
  const { status, body: refused } = await app.call('POST', '/api/v1/suppressions', { body })
  assert.deepEqual([status, refused.error.code], [503, 'database_unavailable'])
  const { status: overall, database } = await health()
  assert.deepEqual([overall, database.state], ['degraded', 'failing'])
  assert.equal(database.message, 'It takes no writes: could not extend file: No space left on device')
  assert.deepEqual(errors, ['the database takes no writes: could not extend file: No space left on device'])

  // Now not even this call can be counted.
  await db.run(
    sql`create trigger full_disk before insert on rate_windows for each row execute function full_disk()`,
  )
  const { status: down, body: report } = await app.call('GET', '/api/v1/health')
  assert.deepEqual([down, report.status, report.database.state], [503, 'down', 'failing'])
  assert.equal(report.database.message, database.message)
  assert.equal(report.error.message, 'The database takes no writes.')
})

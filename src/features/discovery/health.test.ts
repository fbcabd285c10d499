import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { sql } from '../../kernel/sql.ts'
import { pingDatabase } from './health.ts'

const app = await makeApp()
const { db } = app.pools

test('a database that only reads is told as one that is away', async () => {
  assert.match((await pingDatabase(db)).version, /^\d+/)
  const reading = db.transaction(async (tx) => {
    await tx.run(sql`set transaction read only`)
    await pingDatabase(tx)
  })
  await assert.rejects(reading, { code: 'database_unavailable' })
})

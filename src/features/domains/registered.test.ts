import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Identity } from '../../kernel/ports.ts'
import { sql } from '../../kernel/sql.ts'
import { makeDomainApp } from './fixtures/app.ts'
import { keepLook, lookAtDomain } from './look-at-domain.ts'
import { findDomain } from './queries.ts'

const app = await makeDomainApp()
const { db } = app.pools

test('that the upstream’s entry is this account’s to give up is kept by a look that began before', async () => {
  const there: Identity = { records: [], ready: true, says: 'SUCCESS' }
  const needs = { ...app.needs, identity: async () => there }
  await app.declare('shared.example')
  const ref = { accountId: app.accountId, domain: 'shared.example' }
  const leave = (upstream: Identity) =>
    db.run(sql`
      update domains
         set upstream = ${JSON.stringify(upstream)}::jsonb
       where account_id = ${app.accountId} and domain = 'shared.example'`)
  await leave(there)
  const row = await findDomain(db, ref)
  assert.ok(row)
  const looked = await lookAtDomain(needs, { ...row, keys: [] }, app.clock.now)
  // The account that had registered it deletes it.
  await leave({ ...there, registered: true })
  await db.transaction((tx) => keepLook(tx, needs, ref, looked))
  assert.equal((await findDomain(db, ref))?.upstream?.registered, true)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { int, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { assumeNotSuppressed } from './queries.ts'

const { pools, makeAccount } = await makeApp()

const Plans = row<{ own: number; shared: number }>({ own: int, shared: int })
// The server tries a statement with plans of its own this many times before it compares.
const tries = 5

test('whether a few addresses are suppressed is planned once, and not at each asking', async () => {
  const { accountId } = await makeAccount()
  const refs = ['a@example.com', 'b@example.com'].map((email) => ({
    accountId,
    email,
    sender: 's@example.com',
  }))
  // A patient transaction carries out at once what another would with its commit.
  const plans = await pools.db.patiently(async (tx) => {
    for (let n = 0; n < 4 * tries; n++) await assumeNotSuppressed(tx, refs)
    return tx.one(
      Plans,
      sql`
      select custom_plans::int as own, generic_plans::int as shared
        from pg_prepared_statements
       where statement like ${'%assumption_failed()%'}`,
    )
  }, new AbortController().signal)
  assert.deepEqual(plans, { own: tries, shared: 3 * tries })
})

// The cost of looking an address up does not grow with how many an account has suppressed.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { makeApp } from '../../../test/app.ts'
import type { Db } from '../../kernel/db.ts'
import { compile, type Sql } from '../../kernel/sql.ts'
import { findSuppressed } from '../suppressions/queries.ts'
import { loadDue } from './delivery-queries.ts'

const app = await makeApp()
const client = new pg.Pool({ connectionString: app.databaseUrl, max: 1 })
client.on('error', () => {})
after(() => client.end())

const [suppressed, asked] = [150, 200]

type Plan = Record<string, number> & { 'Relation Name'?: string; Plans?: Plan[] }

async function planOf(ask: (db: Db) => unknown): Promise<Plan> {
  const statements: Sql[] = []
  await ask({ many: (_: unknown, statement: Sql) => statements.push(statement) } as unknown as Db)
  const { text, values } = compile(statements[0] as Sql)
  const { rows } = await client.query(`explain (analyze, format json) ${text}`, values)
  return rows[0]['QUERY PLAN'][0].Plan
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

/** Rows of suppressions that were read, and rows of any that were put together and then left out. */
function looksOf(plan: Plan): number {
  const read = nodesOf(plan)
    .filter((node) => node['Relation Name'] === 'suppressions')
    .map(
      (node) =>
        ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 0),
    )
  const leftOut = nodesOf(plan).map(
    (node) => (node['Rows Removed by Join Filter'] ?? 0) * (node['Actual Loops'] ?? 0),
  )
  return [...read, ...leftOut].reduce((sum, n) => sum + n, 0)
}

await client.query(
  `insert into suppressions (account_id, email, reason, source, created_at, id)
   select $1, 's' || n || '@example.org', 'hard_bounce', 'bounce', now(), uuidv7() from generate_series(1, $2::int) n`,
  [app.accountId, suppressed],
)
await client.query(
  `insert into messages (id, account_id, key_id, status, source, mode, stream, sender, recipient, subject, message_id,
                         created_at, campaign_id)
   select uuidv7(), k.account_id, k.id, 'queued', 'campaign', 'live', 'marketing', 'shop@example.com',
          'r' || n || '@example.org', 'Hello', '<' || n || '@example.com>', now(), 1
     from (select account_id, id from api_keys where account_id = $1 limit 1) k, generate_series(1, $2::int) n`,
  [app.accountId, asked],
)
await client.query('analyze')

test('of messages that are due', async () => {
  const { rows } = await client.query('select id from messages where account_id = $1', [app.accountId])
  const ids = rows.map(({ id }) => id)
  for (const name of ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin'])
    await client.query(`set ${name} = off`)
  const looks = looksOf(await planOf((db) => loadDue(db, ids)))
  await client.query('reset all')
  assert.equal(ids.length, asked)
  assert.ok(looks <= suppressed, `${looks} looks`)
})

test('of addresses that are about to be written to', async () => {
  const refs = Array.from({ length: asked }, (_, n) => ({
    accountId: app.accountId,
    email: `r${n}@example.org`,
    sender: 'shop@example.com',
  }))
  const looks = looksOf(await planOf((db) => findSuppressed(db, refs)))
  assert.ok(looks <= suppressed, `${looks} looks`)
})

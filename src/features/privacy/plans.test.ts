import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { makeApp } from '../../../test/app.ts'
import type { Db } from '../../kernel/db.ts'
import { compile, type Sql } from '../../kernel/sql.ts'
import { eraseFromRelayed } from './mention-queries.ts'

const app = await makeApp()
const client = new pg.Pool({ connectionString: app.databaseUrl, max: 1 })
client.on('error', () => {})
after(() => client.end())

test('copies of what a person got are found by its Message-ID, not among all messages', async () => {
  await client.query(
    `insert into messages (id, account_id, key_id, status, source, mode, stream, sender, recipient, subject, message_id,
                           created_at)
     select gen_random_uuid(), $1, gen_random_uuid(), 'sent', 'smtp', 'live', 'transactional', 's@example.com',
            'u' || n || '@example.com', 'x', '<' || n / 2 || '@example.com>', now()
       from generate_series(1, 20000) n`,
    [app.accountId],
  )
  await client.query('analyze messages')
  const put: Sql[] = []
  const db = { run: async (statement: Sql) => put.push(statement) } as unknown as Db
  const nobodyElse = { accountId: app.accountId, phones: [], contactId: null, extId: null }
  const email = 'u7@example.com'
  const names = { ref: { email }, email, emails: [email], pattern: 'u7', likes: ['%u7%'] }
  await eraseFromRelayed(db, { ...nobodyElse, ...names })
  assert.equal(put.length, 2)
  for (const statement of put) {
    const { text, values } = compile(statement)
    const { rows } = await client.query(`explain ${text}`, values)
    const plan = rows.map((line) => line['QUERY PLAN']).join('\n')
    assert.match(plan, /messages_message_id_idx/)
    assert.doesNotMatch(plan, /Seq Scan on messages/)
  }
})

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { makeApp } from '../../../test/app.ts'

const app = await makeApp()
const client = new pg.Pool({ connectionString: app.databaseUrl, max: 1 })
client.on('error', () => {})
after(() => client.end())

const planOf = async (text: string) =>
  (await client.query(`explain ${text}`)).rows.map((line) => line['QUERY PLAN']).join('\n')

test('a row of an account that is new beside large ones is found by its key', async () => {
  await client.query(
    `insert into contacts (account_id, email, created_at, modified_at)
     select $1, 'u' || n || '@example.com', now(), now() from generate_series(1, 20000) n`,
    [app.accountId],
  )
  await client.query('analyze contacts')
  const { accountId } = await app.makeAccount()
  const byEmail = await planOf(
    `select id from contacts where account_id = ${accountId} and email = 'a@b.example'`,
  )
  assert.match(byEmail, /contacts_email_idx/)
  // As the database itself asks for every member of a list.
  const byId = await planOf(`select 1 from contacts where account_id = ${accountId} and id = 5 for key share`)
  assert.match(byId, /contacts_(pkey|id_key)/)
})

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { makeApp } from '../../../test/app.ts'
import { compile, type Sql, sql } from '../../kernel/sql.ts'
import { addressesOf, recipientOf, wasOwn } from './contacts/address-queries.ts'
import { contactColumns } from './contacts/row-queries.ts'

const app = await makeApp()
const client = new pg.Pool({ connectionString: app.databaseUrl, max: 1 })
client.on('error', () => {})
after(() => client.end())

const planOf = async (text: string) =>
  (await client.query(`explain ${text}`)).rows.map((line) => line['QUERY PLAN']).join('\n')

const planOfSql = (statement: Sql) => {
  const { text, values } = compile(statement)
  return planOf(text.replace(/\$(\d+)/g, (_, n) => `'${values[Number(n) - 1]}'`))
}

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

test('the contact that an address belonged to before is found by its key', async () => {
  const { accountId } = await app.makeAccount()
  await client.query(
    `with made as (
       insert into contacts (account_id, email, created_at, modified_at)
       select $1, 'h' || n || '@example.com', now(), now() from generate_series(1, 20000) n
       returning account_id, id, email)
     insert into contact_history (account_id, contact_id, id, attribute, new_value, changed_at, source)
     select account_id, id, gen_random_uuid(), 'EMAIL', to_jsonb(email), now(), 'api' from made`,
    [accountId],
  )
  await client.query('analyze contact_history')
  const plan = await planOf(
    `select contact_id from contact_history
      where account_id = ${accountId} and attribute = 'EMAIL' and old_value = to_jsonb('a@b.example'::text)
      order by id desc limit 1`,
  )
  assert.match(plan, /contact_history_moved_idx/)
  await client.query(
    `insert into messages (id, account_id, key_id, status, source, mode, stream, sender, recipient, subject, message_id,
                           created_at)
     select gen_random_uuid(), $1, gen_random_uuid(), 'sent', 'campaign', 'live', 'marketing', 's@example.com',
            'h' || n || '@example.com', 'x', n, now()
       from generate_series(1, 20000) n`,
    [accountId],
  )
  await client.query('analyze messages')
  const whose = await planOfSql(sql`
    select m.id, (${recipientOf(accountId)}) as contact_id
      from (select id, recipient, created_at from messages where account_id = ${accountId} order by id limit 50) m`)
  const mail = await planOfSql(sql`
    with own as materialized (${addressesOf(accountId, sql`${5}::bigint`)})
    select m.id from own o join messages m on m.account_id = ${accountId} and ${wasOwn}`)
  for (const found of [whose, mail]) {
    assert.match(found, /contacts_email_idx/)
    assert.match(found, /contact_history_moved_idx/)
    assert.doesNotMatch(found, /Seq Scan/)
  }
  assert.match(mail, /messages_recipient_idx/)
})

test('a page of contacts looks its addresses up in the suppression list and does not read all of it', async () => {
  await client.query(
    `insert into suppressions (account_id, email, reason, source, created_at, id)
     select $1, 's' || n || '@example.com', 'manual', 'api', now(), gen_random_uuid() from generate_series(1, 20000) n`,
    [app.accountId],
  )
  await client.query('analyze suppressions')
  const plan = await planOfSql(
    sql`select ${contactColumns} from contacts c where c.account_id = ${app.accountId} order by c.id limit 50`,
  )
  assert.equal(plan.match(/Index (Only )?Scan using suppressions_(pkey|email_idx)/g)?.length, 2, plan)
  assert.doesNotMatch(plan, /Seq Scan on suppressions/)
})

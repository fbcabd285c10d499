import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { makeApp } from '../../../test/app.ts'
import type { Db } from '../../kernel/db.ts'
import { compile, type Sql, sql } from '../../kernel/sql.ts'
import { addressesOf, recipientOf, wasOwn } from './contacts/address-queries.ts'
import { type ContactFilter, listContacts } from './contacts/queries.ts'
import { contactColumns } from './contacts/row-queries.ts'
import { listMembers } from './lists/member-queries.ts'

const app = await makeApp()
const client = new pg.Pool({ connectionString: app.databaseUrl, max: 1 })
client.on('error', () => {})
after(() => client.end())

const planOf = async (text: string) =>
  (await client.query(`explain ${text}`)).rows.map((line) => line['QUERY PLAN']).join('\n')

function written(statement: Sql): string {
  const { text, values } = compile(statement)
  const said = (value: unknown) => {
    if (value instanceof Date) return value.toISOString()
    return Array.isArray(value) ? `{${value.join()}}` : value
  }
  return text.replace(/\$(\d+)/g, (_, n) => `'${said(values[n - 1])}'`)
}

const planOfSql = (statement: Sql) => planOf(written(statement))

/** The statement that a question puts, as it is carried out. */
async function courseOf(ask: (db: Db) => unknown): Promise<string> {
  const put: Sql[] = []
  const { db } = app.pools
  await ask({
    ...db,
    many: (shape, statement) => {
      put.push(statement)
      return db.many(shape, statement)
    },
  })
  return planOf(`(analyze) ${written(put[0] ?? sql`select 1`)}`)
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

test('lists and suppressions are looked up for the contacts of a page, not for those before it', async () => {
  const made = await app.call('POST', '/v3/contacts/lists', { body: { name: 'All' } })
  const listId = String(made.body.id)
  await client.query(
    `insert into list_members (account_id, list_id, contact_id, added_at)
     select account_id, $2, id, now() from contacts where account_id = $1`,
    [app.accountId, listId],
  )
  const slice = { after: undefined, offset: 15_000, limit: 10, ascending: true }
  const filters: ContactFilter[] = [{}, { listIds: [listId] }, { createdSince: new Date(0) }]
  const courses = [
    ...filters.map((filter) => courseOf((db) => listContacts(db, app.accountId, filter, slice))),
    courseOf((db) => listMembers(db, { accountId: app.accountId, listId }, new Date(0), slice)),
  ]
  for (const course of await Promise.all(courses)) {
    const lookups = [...course.matchAll(/suppressions_\w+ on suppressions.*loops=(\d+)/g)]
    assert.deepEqual(
      lookups.map(([, loops]) => loops),
      ['10', '10'],
      course,
    )
  }
})

test('contacts created since a moment are found by it', async () => {
  const plan = await planOf(
    `select count(*) from contacts where account_id = ${app.accountId} and created_at >= now() + interval '1 day'`,
  )
  assert.match(plan, /contacts_created_at_idx/)
})

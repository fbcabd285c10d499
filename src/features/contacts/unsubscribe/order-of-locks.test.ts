import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { makeApp } from '../../../../test/app.ts'
import { until } from '../../../../test/until.ts'
import { addContact, addList } from './fixtures/people.ts'
import { savePreferences, unsubscribe } from './unsubscribe.ts'

const app = await makeApp()
const { accountId } = app
const { db } = app.pools

/** Another writer, who is told at once where the two wait for each other. */
async function openWriter() {
  const client = new pg.Client({ connectionString: app.databaseUrl })
  await client.connect()
  after(() => client.end())
  await client.query("set deadlock_timeout = '10ms'")
  const isAwaited = async () => {
    const { rows } = await client.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows.length > 0
  }
  return { client, isAwaited }
}

const join = 'insert into list_members (account_id, list_id, contact_id, added_at) values ($1, $2, $3, now())'

test('whoever leaves a list and whoever changes the contact do not wait for each other', async () => {
  const email = 'ann@example.com'
  const [ann, bob] = [
    await addContact(db, accountId, email),
    await addContact(db, accountId, 'bob@example.com'),
  ]
  const news = await addList(db, accountId, 'News', [ann])
  const { client, isAwaited } = await openWriter()
  await client.query('begin')
  await client.query('select 1 from contacts where account_id = $1 and id = $2 for no key update', [
    accountId,
    ann,
  ])
  const leaving = unsubscribe(db, { accountId, email, listId: news }, new Date())
  await until(isAwaited, 'the person to wait for the contact')
  await client.query(join, [accountId, news, bob])
  await client.query('commit')
  await leaving
  const { rows } = await client.query('select contact_id from list_members where list_id = $1', [news])
  assert.deepEqual(rows, [{ contact_id: bob }])
})

test('who chooses among several lists counts them in the order of everybody else', async () => {
  const email = 'cleo@example.com'
  const [cleo, dan] = [
    await addContact(db, accountId, email),
    await addContact(db, accountId, 'dan@example.com'),
  ]
  const lists = [await addList(db, accountId, 'Z', [cleo]), await addList(db, accountId, 'A', [cleo])]
  const [first, second] = lists
  const { client, isAwaited } = await openWriter()
  await client.query('begin')
  await client.query(join, [accountId, first, dan])
  const choice = { shown: lists, kept: [], nothing: false, wasNothing: false }
  const leaving = savePreferences(db, { accountId, email }, choice, new Date())
  await until(isAwaited, 'the person to wait for the first list')
  await client.query(join, [accountId, second, dan])
  await client.query('commit')
  await leaving
  const { rows } = await client.query('select list_id from list_members where contact_id = $1', [cleo])
  assert.deepEqual(rows, [])
})

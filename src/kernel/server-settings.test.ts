// On a database whose owner likes everything otherwise.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { makeApp, makeDatabase } from '../../test/app.ts'
import { query } from '../../test/processes/empty-database.ts'
import { until } from '../../test/until.ts'
import { connectionTo, patience } from './server-settings.ts'

const odd = {
  datestyle: 'German, DMY',
  intervalstyle: 'sql_standard',
  timezone: 'Asia/Kathmandu',
  bytea_output: 'escape',
  extra_float_digits: '-3',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  transform_null_equals: 'on',
  default_transaction_isolation: 'serializable',
  lock_timeout: '1ms',
  statement_timeout: '50ms',
  idle_session_timeout: '50ms',
}

const databaseUrl = await makeOddDatabase()
const app = await makeApp({ databaseUrl, deliver: true })

async function makeOddDatabase(): Promise<string> {
  const url = await makeDatabase()
  const name = new URL(url).pathname.slice(1)
  for (const [setting, value] of Object.entries(odd))
    await query(url, `alter database ${name} set ${setting} = '${value}'`)
  return url
}

async function settingsOf(url: string, more = {}): Promise<Record<string, string>> {
  const client = new pg.Client(connectionTo(url, more))
  await client.connect()
  const { rows } = await client.query('select name, setting from pg_settings where name = any($1)', [
    [...Object.keys(odd).map((name) => name.replace('datestyle', 'DateStyle')), 'TimeZone', 'work_mem'],
  ])
  await client.end()
  return Object.fromEntries(rows.map(({ name, setting }) => [name.toLowerCase(), setting]))
}

test('a connection begins with the settings that are relied on, whatever the database has', async () => {
  const { datestyle, timezone, lock_timeout, ...found } = await settingsOf(databaseUrl, patience)
  assert.deepEqual([datestyle?.slice(0, 3), timezone, lock_timeout], ['ISO', 'UTC', '0'])
  assert.deepEqual([found.statement_timeout, found.default_transaction_isolation], ['0', 'read committed'])
  for (const [name, value] of Object.entries(found)) assert.notEqual(value, odd[name as keyof typeof odd])
})

test('options in the address are kept, and do not take the place of these', async () => {
  const url = new URL(databaseUrl)
  url.searchParams.set('options', '-c work_mem=3MB -c datestyle=SQL')
  url.searchParams.set('application_name', 'of the address')
  const { work_mem, datestyle } = await settingsOf(url.href)
  assert.deepEqual([work_mem, datestyle?.slice(0, 3)], ['3072', 'ISO'])
  assert.match(connectionTo(url.href).connectionString, /application_name=of/)
})

test('names of TLS modes that the driver takes for verify-full reach it as that, and it has nothing to say', () => {
  const modeOf = (query: string) =>
    new URL(connectionTo(`postgres://me:a%20b@h/d?${query}`).connectionString).search.slice(1)
  for (const mode of ['prefer', 'require', 'verify-ca'])
    assert.equal(modeOf(`sslmode=${mode}`), 'sslmode=verify-full')
  for (const query of ['sslmode=no-verify', 'uselibpqcompat=true&sslmode=require', ''])
    assert.equal(modeOf(query), query)
})

test('the service works on such a database', async () => {
  const suppressed = await app.call('POST', '/api/v1/suppressions', {
    body: { email: 'gone@example.com', reason: 'manual' },
  })
  assert.equal(suppressed.status, 201, suppressed.text)
  assert.match(suppressed.body.created_at, /^\d{4}-\d\d-\d\dT.*Z$/)
  const sent = await app.call('POST', '/api/v1/transactional/send', {
    body: { from: 'a@shop.example', to: 'b@shop.example', subject: 'Hello', text: 'Hello', tag: 'odd' },
  })
  assert.equal(sent.status, 202, sent.text)
  await until(async () => {
    const { body } = await app.call('GET', `/api/v1/messages/${sent.body.id}`)
    return body.status === 'delivered'
  }, 'the message')
})

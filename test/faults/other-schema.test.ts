// Under a running service the tables change, or go: a newer version migrated them, or the database was made anew.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../src/kernel/log.ts'
import { makeApp, makeDatabase } from '../app.ts'
import { query } from '../processes/empty-database.ts'

const told: string[] = []
const log = Object.assign(Object.create(silentLog), {
  error: ({ err }: { err: Error }, about: string) => told.push(`${about}: ${(err.cause as Error)?.message}`),
})
const databaseUrl = await makeDatabase()
const app = await makeApp({ databaseUrl, log })
const { key } = app

const mail = { from: 'shop@example.com', to: 'anna@example.org', subject: 'Hello', text: 'Hello.' }
const send = () => app.call('POST', '/api/v1/transactional/send', { key, body: mail })
const refused = /^503 .*its tables are not those of this version of Posthorn/

/** What the call was answered, as one line. */
async function said(method: string, path: string, callers: string | null = key): Promise<string> {
  const { status, text } = await app.call(method, path, { key: callers })
  return `${status} ${text}`
}

test('calls that need what a newer version has migrated away are answered 503, and others go on', async () => {
  await query(databaseUrl, 'alter table messages rename column subject to topic')
  const { status, text } = await send()
  assert.match(`${status} ${text}`, refused)
  assert.match(await said('GET', '/api/v1/messages'), refused)
  assert.match(await said('GET', '/v3/contacts'), /^200 /)
  assert.match(told.join(), /the database cannot be used: column .*subject.* does not exist/)
  await query(databaseUrl, 'alter table messages rename column topic to subject')
  assert.equal((await send()).status, 202)
})

test('with a database that was made anew and is empty, every call is answered 503 and nothing is ready', async () => {
  await query(databaseUrl, 'drop schema public cascade')
  await query(databaseUrl, 'create schema public')
  const unknown = `phk_live_${'x'.repeat(32)}`
  for (const path of ['/api/v1/messages', '/v3/contacts'])
    assert.match(await said('GET', path), refused, path)
  assert.match(await said('GET', '/api/v1/usage', unknown), refused)
  assert.match(await said('GET', '/readyz', null), /^503 /)
  assert.match(await said('GET', '/api/v1/health'), /^503 .*"down"/)
  assert.match(await said('GET', '/livez', null), /^200 /)
})

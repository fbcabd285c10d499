// docs/operations.md says what is so.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { roles } from '../../src/main/start.ts'
import { makeApp } from '../app.ts'
import { query } from '../processes/empty-database.ts'

const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8')
const app = await makeApp()

test('every metric it names is there, and it names all of our own', async () => {
  await app.call('GET', '/api/v1/usage')
  const { text } = await app.call('GET', '/metrics', { key: null })
  const declared = [...text.matchAll(/^# HELP (\w+)/gm)].map(([, name]) => name ?? '')
  const named = [...page.matchAll(/`((?:posthorn|process|nodejs)_\w+)`/g)].map(([, name]) => name ?? '')
  assert.ok(named.length > 2)
  assert.deepEqual(
    named.filter((name) => !declared.includes(name)),
    [],
  )
  assert.deepEqual(
    declared.filter((name) => name.startsWith('posthorn_') && !named.includes(name)),
    [],
  )
})

test('every role and every table it names is there, and no key of those begins with the account', async () => {
  for (const role of roles) assert.ok(page.includes(`| \`${role}\` |`), role)
  const from = page.indexOf('These do not')
  const listed = page.slice(from, page.indexOf('Statements on', from)).matchAll(/`(\w+)`/g)
  const keys = await query<{ table: string; first: string }>(
    app.databaseUrl,
    `select conrelid::regclass::text as table, a.attname as first
       from pg_constraint c join pg_attribute a on a.attrelid = conrelid and a.attnum = conkey[1]
      where contype = 'p'`,
  )
  for (const [, table] of listed) {
    const key = keys.find((one) => one.table === table)
    assert.ok(key && key.first !== 'account_id', `${table}: ${key?.first}`)
  }
})

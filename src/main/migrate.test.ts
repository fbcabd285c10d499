import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { makeEmptyDatabase, query } from '../../test/processes/empty-database.ts'
import { poolerOf } from '../../test/stand-ins/pooler.ts'
import { until } from '../../test/until.ts'
import { lockKey, MigrationFault, migrate, pendingOf } from './migrate.ts'
import { packageRoot } from './package-root.ts'

const files = (await readdir(join(packageRoot(), 'db', 'migrations')))
  .filter((name) => name.endsWith('.sql'))
  .sort()
const [first = '', ...later] = files

const fileOf = (name: string, checksum = 'same') => ({ name, text: '', checksum })

const isFault = (says: RegExp) => (error: unknown) =>
  error instanceof MigrationFault && says.test(error.message)

test('an empty database gets every migration in order, and the next time none', async () => {
  const url = await makeEmptyDatabase()
  assert.deepEqual(await migrate(url), { applied: files, total: files.length })
  assert.deepEqual(await migrate(url), { applied: [], total: files.length })
})

test('of many that migrate at once, each migration is applied by one', async () => {
  const url = await makeEmptyDatabase()
  const results = await Promise.all(Array.from({ length: 5 }, () => migrate(url)))
  assert.deepEqual(results.flatMap(({ applied }) => applied).sort(), files)
  const rows = await query<{ name: string }>(url, 'select name from schema_migrations order by name')
  assert.deepEqual(
    rows.map(({ name }) => name),
    files,
  )
})

test('a migration that was changed after it had been applied is refused by name', async () => {
  const url = await makeEmptyDatabase()
  await migrate(url)
  await query(url, `update schema_migrations set checksum = 'other' where name = $1`, [first])
  await assert.rejects(migrate(url), isFault(new RegExp(`${first} was changed`)))
})

test('a database of a newer version is refused and stays as it is', async () => {
  const url = await makeEmptyDatabase()
  await query(url, 'create table schema_migrations (name text primary key, checksum text not null)')
  await query(url, `insert into schema_migrations values ('9999_future.sql', 'x')`)
  await assert.rejects(migrate(url), isFault(/9999_future\.sql, which this version does not know/))
  const tables = await query(url, `select from pg_tables where schemaname = 'public'`)
  assert.equal(tables.length, 1)
})

test('a migration that fails leaves nothing of itself, and is tried again the next time', async () => {
  const url = await makeEmptyDatabase()
  // In the way of the first migration, after it has made its first table.
  await query(url, 'create table accounts (id int)')
  await assert.rejects(migrate(url), /^error: 0001_accounts\.sql: relation "accounts" already exists$/)
  assert.deepEqual(await query(url, 'select from schema_migrations'), [])
  assert.deepEqual(await query(url, `select from pg_tables where tablename = 'installation'`), [])
  await query(url, 'drop table accounts')
  assert.deepEqual((await migrate(url)).applied, files)
})

test('only what is not applied yet is pending', () => {
  const known = files.map((name) => fileOf(name))
  const applied = new Map([[first, 'same']])
  assert.deepEqual(
    pendingOf(known, applied).map(({ name }) => name),
    later,
  )
  assert.throws(() => pendingOf([fileOf(first, 'edited')], applied), MigrationFault)
  assert.throws(() => pendingOf([], applied), MigrationFault)
})

test('a database that cannot be reached is an error within seconds', async () => {
  await assert.rejects(migrate('postgres://x:y@127.0.0.1:1/z'), /ECONNREFUSED/)
})

test('a database of another encoding, and one that only reads, are refused in words', async () => {
  const url = new URL(await makeEmptyDatabase())
  for (const encoding of ['LATIN1', 'SQL_ASCII']) {
    const name = `${url.pathname.slice(1)}_${encoding.toLowerCase()}`
    const form = `encoding '${encoding}' locale 'C' template template0`
    await query(url.href, `create database ${name} ${form}`)
    const other = new URL(url)
    other.pathname = `/${name}`
    await assert.rejects(
      migrate(other.href),
      isFault(new RegExp(`encoding ${encoding}; Posthorn needs UTF8`)),
    )
    await query(url.href, `drop database ${name}`)
  }
  url.searchParams.set('options', '-c default_transaction_read_only=on')
  await assert.rejects(migrate(url.href), isFault(/the database takes no writes/))
})

test('a user who may make no tables, or knows not where, is told what to grant', async () => {
  const url = new URL(await makeEmptyDatabase())
  url.searchParams.set('options', '-c role=pg_monitor')
  await assert.rejects(
    migrate(url.href),
    isFault(/pg_monitor may not make tables in the schema public: grant create on/),
  )
  url.searchParams.set('options', '-c search_path=nowhere')
  await assert.rejects(migrate(url.href), isFault(/no schema .* is selected .* set search_path = public$/))
})

test('who only comes by leaves a database of an older version as it is', async () => {
  const url = await makeEmptyDatabase()
  assert.deepEqual((await migrate(url, 'refuse')).applied, files)
  await query(url, 'delete from schema_migrations where name = $1', [files.at(-1)])
  const told = /of an older version, 1 migration is missing: stop what runs of that, .*posthorn migrate$/
  await assert.rejects(migrate(url, 'refuse'), isFault(told))
  assert.equal((await query(url, 'select from schema_migrations')).length, files.length - 1)
})

test('a pooler that shares connections between transactions is refused before anything is locked or made', async () => {
  const url = await makeEmptyDatabase()
  for (const mode of ['transaction', 'statement'] as const)
    await assert.rejects(
      migrate(await poolerOf(url, mode)),
      isFault(/^DATABASE_URL leads to a pooler .*pool_mode = session/),
    )
  const locks = `select from pg_locks where locktype = 'advisory' and database =
    (select oid from pg_database where datname = current_database())`
  assert.deepEqual(await query(url, locks), [])
  assert.deepEqual(await query(url, `select from pg_class where relname = 'schema_migrations'`), [])
})

test('whoever waits for another process says so, and goes on after it', async () => {
  const url = await makeEmptyDatabase()
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  await holder.query('select pg_advisory_lock($1)', [lockKey])
  let told: string[] = []
  const waiting = migrate(url, 'migrate', (line) => {
    told = [...told, line]
  })
  await until(async () => told.length > 0, 'the line')
  await holder.end()
  assert.deepEqual((await waiting).applied, files)
  assert.deepEqual(told, ['waiting for another process, which is migrating or restoring this database'])
})

test('a migration whose connection is lost fails, and the process goes on', async () => {
  const url = await makeEmptyDatabase()
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  await holder.query('select pg_advisory_lock($1)', [lockKey])
  const lost = assert.rejects(migrate(url), /terminat/)
  const end = `select pg_terminate_backend(pid) from pg_stat_activity
                where datname = current_database() and wait_event = 'advisory'`
  await until(async () => (await holder.query(end)).rows.length === 1, 'the wait')
  await lost
  await holder.end()
})

test('time limits of the server end neither a migration nor the wait for one', async () => {
  const url = await makeEmptyDatabase()
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  await holder.query('select pg_advisory_lock($1)', [lockKey])
  for (const limit of ['lock_timeout', 'statement_timeout'])
    await query(url, `alter database ${new URL(url).pathname.slice(1)} set ${limit} = '20ms'`)
  const waiting = migrate(url).then(({ applied }) => applied)
  const isWaiting = async () => {
    const { rows } = await holder.query(`
      select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query_start < now() - interval '40 ms'`)
    return rows.length === 1
  }
  await Promise.race([waiting, until(isWaiting, 'the wait')])
  await holder.end()
  assert.deepEqual(await waiting, files)
})

// What is in the database and not Posthorn's: a backup leaves it out, a restore leaves it alone.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { namesMadeBy } from '../../src/main/backup/own-names.ts'
import { knownMigrations } from '../../src/main/migrate.ts'
import { makeDatabase } from '../app.ts'
import { makeEmptyDatabase, query } from '../processes/empty-database.ts'
import { linesOf, makePlace, run } from '../processes/posthorn.ts'
import { backup, dataFolder, folder, portrait, restore } from './grounds.ts'

const source = await makeDatabase()
await query(source, `insert into accounts (name) select 'account ' || n from generate_series(1, 5) n`)
const plain = await portrait(source)
const shared = `
  create table orders (id int primary key, note text); insert into orders values (1, 'kept');
  create table with_numbers (id serial, state bigint generated always as identity);
  create function myf(int) returns int language sql as 'select 1';
  create type colour as enum ('red'); create view open_orders as select * from orders`
const foreign = [
  'table orders',
  'table with_numbers',
  'function myf(integer)',
  'type colour',
  'view open_orders',
]

test('what the migrations make is known by its name', async () => {
  const names = async (text: string) => (await query<{ name: string }>(source, text)).map(({ name }) => name)
  const own = namesMadeBy(await knownMigrations())
  const here = `= 'public'::regnamespace`
  const tables = await names(
    `select relname as name from pg_class where relnamespace ${here} and relkind = 'r'`,
  )
  assert.deepEqual([...own.tables].sort(), tables.sort())
  const functions = await names(`select distinct proname as name from pg_proc where pronamespace ${here}`)
  assert.deepEqual([...own.functions].sort(), functions.sort())
  const others = await names(`
    select relname as name from pg_class where relnamespace ${here} and relkind not in ('r', 'i', 'S')
    union all select typname from pg_type where typnamespace ${here} and typtype in ('e', 'd', 'r')`)
  assert.deepEqual(others, [])
})

test('a backup has Posthorn’s own tables alone, and can be restored', async () => {
  const url = await makeDatabase()
  await query(url, `insert into accounts (name) select 'account ' || n from generate_series(1, 5) n`)
  await query(url, shared)
  const { file, tables, leftOut } = await backup(url, dataFolder('none'))
  assert.deepEqual(leftOut, foreign)
  const target = await makeEmptyDatabase()
  assert.equal((await restore(target, { file })).tables, tables)
  const [found, was] = [await portrait(target), await portrait(url)]
  assert.deepEqual([found.accounts, found.orders], [was.accounts, undefined])
})

test('a restore drops nothing that it has not made, neither without nor with --force', async () => {
  const { file } = await backup(source, dataFolder('none'))
  const url = await makeDatabase()
  await query(url, shared)
  const { orders } = await portrait(url)
  for (const force of [false, true]) {
    const { leftAlone } = await restore(url, { file, force })
    assert.deepEqual(leftAlone, foreign)
    const found = await portrait(url)
    assert.deepEqual([found.orders, found.accounts], [orders, plain.accounts])
    assert.deepEqual(await query(url, 'select myf(2), id from open_orders'), [{ myf: 1, id: 1 }])
  }
})

test('what hangs on Posthorn’s tables is in the way, and is named', async () => {
  const { file } = await backup(source, dataFolder('none'))
  const url = await makeDatabase()
  await query(url, 'create schema other; create view other.names as select name from accounts')
  await assert.rejects(restore(url, { file, force: true }), /not make hangs on its tables: view other\.names/)
  await query(url, 'select from other.names')
})

test('a table of migrations of another make is somebody else’s', async () => {
  const { file } = await backup(source, dataFolder('none'))
  const url = await makeEmptyDatabase()
  await query(url, 'create table schema_migrations (version text); create table accounts (id int)')
  await assert.rejects(restore(url, { file, force: true }), /another application \(table accounts, table sch/)
})

test('beside a newer version nothing is copied and nothing dropped', async () => {
  const { file } = await backup(source, dataFolder('none'))
  const url = await makeDatabase()
  await query(url, `insert into schema_migrations (name, checksum) values ('9999_later.sql', 'x')`)
  await assert.rejects(
    restore(url, { file, force: true }),
    /9999_later\.sql, which this version does not know/,
  )
  await assert.rejects(backup(url, dataFolder('none')), /9999_later\.sql, which this version does not know/)
})

test('the commands say what they left', async () => {
  const url = await makeDatabase()
  await query(url, `insert into accounts (name) values ('one')`)
  await query(url, 'create table orders (id int)')
  const place = await makePlace({ DATABASE_URL: url })
  const file = join(folder, 'said.tar.gz')
  const written = await run(place, 'backup', file)
  assert.match(linesOf(written.out)[1] ?? '', /^Not in it, because Posthorn did not make it: table orders\.$/)
  const restored = await run(place, 'restore', file, '--force')
  assert.deepEqual([restored.code, restored.err], [0, ''])
  assert.match(restored.out, /^Left as it was, because Posthorn did not make it: table orders\.$/m)
})

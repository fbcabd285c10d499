import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { makeEmptyDatabase, query } from '../../test/processes/empty-database.ts'
import { runChecks } from './doctor.ts'
import { migrate } from './migrate.ts'

const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-doctor-'))
after(() => rm(dataDir, { recursive: true, force: true }))
const url = await makeEmptyDatabase()
await migrate(url)
Object.assign(process.env, { POSTHORN_DATA_DIR: dataDir, DATABASE_URL: url, POSTHORN_DNS: '127.0.0.1:9' })

const look = async (name: string) => (await runChecks()).find((check) => check.name === name)

const tables = () => query(url, 'select relname from pg_class order by oid')

test('a database whose disk is full is found by writing, of which nothing stays', async () => {
  const before = await tables()
  assert.equal((await look('database'))?.state, 'ok')
  assert.deepEqual(await tables(), before)
  // As the server says it when a file cannot grow.
  await query(
    url,
    `create function full_disk() returns event_trigger language plpgsql as $$
     begin raise sqlstate '53100' using message = 'could not extend file: No space left on device'; end $$`,
  )
  await query(url, 'create event trigger full_disk on ddl_command_end execute function full_disk()')
  const found = await look('database')
  await query(url, 'drop event trigger full_disk')
  assert.deepEqual(found, {
    name: 'database',
    state: 'failed',
    detail: 'the database takes no writes: could not extend file: No space left on device',
    mend: 'make room on the disk of the database server; the service then goes on by itself',
  })
})

test('an empty database is ready for the first start', async () => {
  process.env.DATABASE_URL = await makeEmptyDatabase()
  const [database, key] = [await look('database'), await look('secret key')]
  process.env.DATABASE_URL = url
  assert.equal(database?.state, 'ok', database?.detail)
  assert.match(database?.detail ?? '', /^external, PostgreSQL .*, empty: the first start makes its tables$/)
  assert.deepEqual([key?.state, key?.detail], ['ok', 'not used yet'])
})

test('a server that has no connection left is told as that, with what to raise', async () => {
  const role = `guest_of_${new URL(url).pathname.slice(1)}`
  await query(url, `create role ${role} login password 'open' connection limit 0`)
  after(() => query(Object.assign(new URL(url), { pathname: '/postgres' }).href, `drop role ${role}`))
  process.env.DATABASE_URL = Object.assign(new URL(url), { username: role, password: 'open' }).href
  const found = await look('database')
  process.env.DATABASE_URL = url
  assert.match(found?.detail ?? '', /^too many connections for role/)
  assert.match(
    found?.mend ?? '',
    /^raise max_connections of the server, or the limit of the role .* up to 19$/,
  )
})

test('fewer connections than a process takes are told before it needs them', async () => {
  const { pathname } = new URL(url)
  assert.equal(await look('connections'), undefined)
  await query(url, `alter database ${pathname.slice(1)} connection limit 6`)
  const { state, detail, mend } = (await look('connections')) ?? {}
  await query(url, `alter database ${pathname.slice(1)} connection limit -1`)
  assert.deepEqual([state, detail?.slice(0, 9)], ['warning', '6 at most'])
  assert.match(mend ?? '', /^raise max_connections .* up to 19$/)
})

test('a disk without room for media is told as full, and the attempt leaves nothing there', async () => {
  const media = join(dataDir, 'media')
  await mkdir(media, { recursive: true })
  await symlink('/dev/full', join(media, `probe-${process.pid}.txt.part`))
  const { state, mend } = (await look('media storage')) ?? {}
  assert.deepEqual([state, mend], ['failed', `make room on the disk that ${dataDir} is on`])
  assert.deepEqual(await readdir(media), [])
})

import assert from 'node:assert/strict'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { EmbeddedPostgresError, openEmbeddedPostgres } from './embedded-postgres.ts'
import {
  eventually,
  hold,
  killServer,
  makeDataDir,
  openFor,
  query,
  replace,
  serverPid,
  shareDataDir,
} from './fixtures/testing.ts'

const sharedDataDir = shareDataDir()

test('the first start makes a database and the second keeps its rows', async (t) => {
  const dataDir = sharedDataDir(t)
  const lines: string[] = []
  const first = await openFor(t, { dataDir, mode: 'service', onLog: (line) => lines.push(line) })
  assert.deepEqual([first.adopted, first.ownsServer], [false, true])
  assert.match(first.url, /^postgres:\/\/posthorn:[\w-]{43}@127\.0\.0\.1:\d+\/posthorn\?sslmode=disable$/)
  await query(first.url, "create table kept (word text); insert into kept values ('été')")
  await first.stop()
  await first.stop()
  assert.equal(await serverPid(dataDir), undefined)
  assert.ok(lines.some((line) => line.includes('ready to accept connections')))
  assert.ok(lines.some((line) => line.includes('database system is shut down')))

  const second = await openFor(t, { dataDir, mode: 'service' })
  assert.equal(second.adopted, false)
  assert.deepEqual(await query(second.url, 'select upper(word) as word from kept'), [{ word: 'ÉTÉ' }])
})

test('what the environment says of other servers is not for this one', async (t) => {
  process.env.PGSSLMODE = 'require'
  t.after(() => {
    delete process.env.PGSSLMODE
  })
  const { url } = await openFor(t, { dataDir: sharedDataDir(t), mode: 'service' })
  assert.deepEqual(await query(url, 'select 1 as one'), [{ one: 1 }])
})

test('the server is set up as promised', async (t) => {
  const dataDir = sharedDataDir(t)
  const { url } = await openFor(t, { dataDir, mode: 'service' })
  const names = [
    ...['fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums', 'listen_addresses', 'TimeZone'],
    ...[
      'unix_socket_directories',
      'idle_in_transaction_session_timeout',
      'server_encoding',
      'shared_buffers',
    ],
  ]
  const list = names.map((name) => `current_setting('${name}') as "${name}"`)
  assert.deepEqual(await query(url, `select ${list.join(', ')}`), [
    {
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      data_checksums: 'on',
      listen_addresses: '127.0.0.1',
      TimeZone: 'UTC',
      unix_socket_directories: '.',
      idle_in_transaction_session_timeout: '1min',
      server_encoding: 'UTF8',
      shared_buffers: '128MB',
    },
  ])
  await assert.rejects(query(url.replace(/:[\w-]{43}@/, ':wrong@'), 'select 1'), { code: '28P01' })
  const environment = await readFile(`/proc/${await serverPid(dataDir)}/environ`, 'utf8').catch(() => '')
  assert.ok(!environment.includes('HOME='))
})

test('the data folder and the password are closed to others', async (t) => {
  const dataDir = sharedDataDir(t)
  const { url } = await openFor(t, { dataDir, mode: 'service' })
  const file = path.join(dataDir, 'postgres-password')
  const modeOf = async (each: string) => (await stat(each)).mode & 0o777
  assert.equal(await modeOf(file), 0o600)
  assert.equal(await modeOf(dataDir), 0o700)
  assert.equal(await modeOf(path.join(dataDir, 'postgres')), 0o700)
  assert.equal(await modeOf(path.join(dataDir, 'postgres.log')), 0o600)
  assert.equal((await stat(file)).uid, process.getuid?.())
  assert.ok(url.includes((await readFile(file, 'utf8')).trim()))
})

test('a killed server loses no committed row', async (t) => {
  const dataDir = sharedDataDir(t)
  const lost: string[] = []
  const first = await openFor(t, { dataDir, mode: 'service', onExit: (detail) => lost.push(detail) })
  await query(first.url, 'create table survivors (number int)')
  for (let number = 1; number <= 20; number += 1)
    await query(first.url, `insert into survivors values (${number})`)
  await killServer(dataDir)
  await eventually(() => lost.length > 0)
  assert.match(lost[0] ?? '', /^PostgreSQL \(process \d+\) ended unasked: see .*postgres\.log$/)
  await first.stop()

  const second = await openFor(t, { dataDir, mode: 'service' })
  assert.equal(second.adopted, false)
  assert.deepEqual(await query(second.url, 'select count(*)::int from survivors'), [{ count: 20 }])
  assert.equal(lost.length, 1)
})

test('the server of a killed service is adopted', async (t) => {
  const dataDir = sharedDataDir(t)
  const service = hold(t, { dataDir })
  const { url = '' } = await service.next()
  await query(url, 'create table adopted (number int); insert into adopted values (7)')
  const pid = await serverPid(dataDir)
  await service.kill()
  assert.equal(await serverPid(dataDir), pid)

  const next = await openFor(t, { dataDir, mode: 'service' })
  assert.deepEqual([next.adopted, next.ownsServer, next.url], [true, true, url])
  assert.deepEqual(await query(next.url, 'select number from adopted'), [{ number: 7 }])
  await next.stop()
  assert.equal(await serverPid(dataDir), undefined)
})

test('a database of another major version is refused', async (t) => {
  const dataDir = sharedDataDir(t)
  await replace(t, path.join(dataDir, 'postgres', 'PG_VERSION'), '15\n')
  await assert.rejects(openEmbeddedPostgres({ dataDir, mode: 'service' }), (error) => {
    assert.ok(error instanceof EmbeddedPostgresError)
    assert.match(error.message, /is of PostgreSQL 15 and this Posthorn brings PostgreSQL 18.*cannot read it/)
    return true
  })
})

test('a lost or wrong password is refused', async (t) => {
  const dataDir = sharedDataDir(t)
  const open = () => openEmbeddedPostgres({ dataDir, mode: 'service' })
  await replace(t, path.join(dataDir, 'postgres-password'), '')
  await assert.rejects(open(), /the password file .* is missing or empty: restore it/)
  await writeFile(path.join(dataDir, 'postgres-password'), 'wrong\n')
  await assert.rejects(open(), /the password in .* does not open the database in .*: restore the two/)
  assert.equal(await serverPid(dataDir), undefined)
})

test('a folder that holds something else is refused', async (t) => {
  const dataDir = await makeDataDir(t)
  await mkdir(path.join(dataDir, 'postgres'), { recursive: true })
  await writeFile(path.join(dataDir, 'postgres', 'letter.txt'), 'hello')
  const opened = openEmbeddedPostgres({ dataDir, mode: 'service' })
  await assert.rejects(opened, /postgres holds files but no database: move it away$/)
})

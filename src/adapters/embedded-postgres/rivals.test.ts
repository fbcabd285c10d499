import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  eventually,
  hold,
  makeDataDir,
  openFor,
  query,
  runningPid,
  serverPid,
  shareDataDir,
} from './fixtures/testing.ts'

const sharedDataDir = shareDataDir()

const inUse = (dataDir: string, pid: number | undefined) =>
  `the data folder ${dataDir} is in use by another Posthorn (process ${pid}); ` +
  'processes that share the work need a server of their own: DATABASE_URL'

test('a second service is refused and told who is in its way', async (t) => {
  const dataDir = sharedDataDir(t)
  const first = await openFor(t, { dataDir, mode: 'service' })
  const second = await hold(t, { dataDir, waitMs: 3000 }).next()
  assert.equal(second.name, 'EmbeddedPostgresError')
  assert.equal(second.error, inUse(dataDir, process.pid))
  assert.deepEqual(await query(first.url, 'select 1 as one'), [{ one: 1 }])
})

test('of two services that start at once on an empty folder one wins', async (t) => {
  const dataDir = await makeDataDir(t)
  // Long enough to connect on a busy machine; the loser then waits all of it.
  const holders = [hold(t, { dataDir, waitMs: 8000 }), hold(t, { dataDir, waitMs: 8000 })]
  const said = await Promise.all(holders.map((each) => each.next()))
  const winner = said.findIndex(({ url }) => url !== undefined)
  const { error } = said[1 - winner] ?? {}
  assert.equal(error, inUse(dataDir, holders[winner]?.pid))
  const { url = '', ownsServer } = said[winner] ?? {}
  assert.equal(ownsServer, true)
  await query(url, 'create table kept (number int); insert into kept values (1)')
  assert.deepEqual(await holders[winner]?.stop(), { stopped: true })
  assert.equal(await serverPid(dataDir), undefined)
  const next = await openFor(t, { dataDir, mode: 'service' })
  assert.deepEqual(await query(next.url, 'select number from kept'), [{ number: 1 }])
})

test('a service waits for its predecessor to end', async (t) => {
  const dataDir = sharedDataDir(t)
  const first = await openFor(t, { dataDir, mode: 'service' })
  const before = await runningPid(dataDir)
  const waiting = hold(t, { dataDir })
  await eventually(async () => {
    const rows = await query(first.url, "select from pg_stat_activity where wait_event_type = 'Lock'")
    return rows.length === 1
  })
  await first.stop()
  const second = await waiting.next()
  assert.equal(second.ownsServer, true)
  assert.notEqual(await runningPid(dataDir), before)
  assert.deepEqual(await query(second.url ?? '', 'select 1 as one'), [{ one: 1 }])
})

test('a command beside a service uses its server and leaves it running', async (t) => {
  const dataDir = sharedDataDir(t)
  const service = await openFor(t, { dataDir, mode: 'service' })
  const command = await openFor(t, { dataDir, mode: 'command' })
  assert.deepEqual([command.adopted, command.ownsServer, command.url], [true, false, service.url])
  await command.stop()
  assert.deepEqual(await query(service.url, 'select 1 as one'), [{ one: 1 }])
})

test('a command alone stops the server at its end', async (t) => {
  const dataDir = sharedDataDir(t)
  const command = await openFor(t, { dataDir, mode: 'command' })
  assert.deepEqual([command.adopted, command.ownsServer], [false, true])
  await query(command.url, 'select 1')
  await command.stop()
  assert.equal(await serverPid(dataDir), undefined)
})

test('of several commands the last one stops the server', async (t) => {
  const dataDir = sharedDataDir(t)
  const first = await openFor(t, { dataDir, mode: 'command' })
  const second = await openFor(t, { dataDir, mode: 'command' })
  assert.deepEqual([first.ownsServer, second.ownsServer], [true, false])
  await first.stop()
  assert.deepEqual(await query(second.url, 'select 1 as one'), [{ one: 1 }])
  await second.stop()
  assert.equal(await serverPid(dataDir), undefined)

  const both = await Promise.all([1, 2, 3].map(() => openFor(t, { dataDir, mode: 'command' })))
  await Promise.all(both.map((each) => each.stop()))
  assert.equal(await serverPid(dataDir), undefined)
})

test('a service takes over from a command that ends', async (t) => {
  const dataDir = sharedDataDir(t)
  const command = await openFor(t, { dataDir, mode: 'command' })
  const pid = await runningPid(dataDir)
  const waiting = hold(t, { dataDir })
  await eventually(async () => {
    const rows = await query(command.url, "select from pg_stat_activity where wait_event_type = 'Lock'")
    return rows.length === 1
  })
  await command.stop()
  assert.equal((await waiting.next()).ownsServer, true)
  assert.equal(await runningPid(dataDir), pid)
})

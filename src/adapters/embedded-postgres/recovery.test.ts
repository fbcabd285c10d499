import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { deadlineIn } from './deadline.ts'
import {
  eventually,
  hold,
  makeDataDir,
  openFor,
  query,
  replace,
  runningPid,
  serverPid,
  shareDataDir,
} from './fixtures/testing.ts'
import { dropPidFile, findServer } from './pid-file.ts'
import { preparePlace } from './place.ts'
import { sparePort, startServer } from './server.ts'

const sharedDataDir = shareDataDir()

const pidFileText = (pid: number, cluster: string, port: number) =>
  [pid, cluster, Math.floor(Date.now() / 1000) - 60, port, '', '127.0.0.1', '  1 2', 'ready   ', ''].join(
    '\n',
  )

const leavePidFile = async (dataDir: string, text: string) => {
  const cluster = path.join(dataDir, 'postgres')
  const { uid, gid } = await stat(cluster)
  await writeFile(path.join(cluster, 'postmaster.pid'), text, { mode: 0o600 })
  await chown(path.join(cluster, 'postmaster.pid'), uid, gid)
}

const opens = async (t: TestContext, dataDir: string) => {
  const postgres = await openFor(t, { dataDir, mode: 'service' })
  assert.equal(postgres.adopted, false)
  assert.deepEqual(await query(postgres.url, 'select 1 as one'), [{ one: 1 }])
  await postgres.stop()
}

const sleeper = async (t: TestContext) => {
  const child = spawn('sleep', ['60'])
  t.after(() => child.kill('SIGKILL'))
  await once(child, 'spawn')
  return child
}

test('a first start that was killed half way leaves nothing in the way of the next', async (t) => {
  const dataDir = sharedDataDir(t)
  const drafts = async () => (await readdir(dataDir).catch(() => [])).filter((name) => name.includes('.new-'))
  const first = hold(t, { dataDir })
  await eventually(async () => {
    const [draft = 'none'] = (await drafts()).filter((name) => name.startsWith('postgres.new-'))
    return (await stat(path.join(dataDir, draft, 'cluster', 'base')).catch(() => undefined)) !== undefined
  })
  await first.kill()
  assert.equal((await drafts()).length, 1)
  await opens(t, dataDir)
  await opens(t, dataDir)
  assert.deepEqual(await drafts(), [])
})

test('the file of a dead server does not stop the next', async (t) => {
  const dataDir = sharedDataDir(t)
  const child = await sleeper(t)
  const dead = child.pid ?? 0
  child.kill('SIGKILL')
  await once(child, 'exit')
  await leavePidFile(dataDir, pidFileText(dead, path.join(dataDir, 'postgres'), 5))
  await opens(t, dataDir)
})

test('the number of a dead server taken by another program does not stop the next', async (t) => {
  const dataDir = sharedDataDir(t)
  const alien = await sleeper(t)
  await leavePidFile(dataDir, pidFileText(alien.pid ?? 0, path.join(dataDir, 'postgres'), await sparePort()))
  await opens(t, dataDir)
  assert.equal(alien.exitCode ?? alien.signalCode, null)
})

test('the number of a dead server taken by the server of another folder does not stop the next', async (t) => {
  const [dataDir, other] = [sharedDataDir(t), await makeDataDir(t)]
  await promisify(execFile)('cp', ['-a', dataDir, other])
  const beside = await openFor(t, { dataDir: other, mode: 'service' })
  const file = await readFile(path.join(other, 'postgres', 'postmaster.pid'), 'utf8')
  await leavePidFile(dataDir, file)
  await opens(t, dataDir)
  assert.deepEqual(await query(beside.url, 'select 1 as one'), [{ one: 1 }])
})

test('an empty server file does not stop the next', async (t) => {
  const dataDir = sharedDataDir(t)
  await leavePidFile(dataDir, '')
  await opens(t, dataDir)
})

test('a server file that changed since it was judged stays', async (t) => {
  const dataDir = sharedDataDir(t)
  const cluster = path.join(dataDir, 'postgres')
  await leavePidFile(dataDir, 'new')
  await dropPidFile(cluster, 'old')
  assert.equal(await readFile(path.join(cluster, 'postmaster.pid'), 'utf8'), 'new')
  await dropPidFile(cluster, 'new')
  assert.equal(await findServer(cluster), undefined)
  assert.deepEqual(
    (await readdir(cluster)).filter((name) => name.startsWith('postmaster.pid')),
    [],
  )
})

test('what a killed start left is removed, and what a live one makes is not', async (t) => {
  const dataDir = sharedDataDir(t)
  const other = await sleeper(t)
  const old = new Date(Date.now() - 3_600_000)
  const make = (name: string) => mkdir(path.join(dataDir, name, 'cluster'), { recursive: true })
  const [live, ours] = [`postgres.new-${other.pid}-1`, `postgres.new-${process.pid}-2`]
  for (const name of ['postgres.new-4194304-3', live, ours]) await make(name)
  await utimes(path.join(dataDir, ours), old, old)
  await writeFile(path.join(dataDir, 'postgres-password.new-4194304-4'), 'x')
  await opens(t, dataDir)
  assert.deepEqual(
    (await readdir(dataDir)).filter((name) => name.includes('.new-')),
    [live],
  )
})

test('a port that was taken meanwhile is passed over', async (t) => {
  const dataDir = sharedDataDir(t)
  const taken = createServer().listen(0, '127.0.0.1')
  t.after(() => taken.close())
  await once(taken, 'listening')
  const address = taken.address()
  assert.ok(address !== null && typeof address === 'object')
  const ports = [address.port, await sparePort()]
  const place = await preparePlace(dataDir)
  const server = await startServer(place, deadlineIn(10_000), async () => ports.shift() ?? 0)
  assert.equal(ports.length, 0)
  assert.equal(server?.pid, await serverPid(dataDir))
  assert.notEqual(server?.port, address.port)
  assert.equal(await startServer(place, deadlineIn(10_000)), undefined)
})

test('a server that cannot start says why in one line', async (t) => {
  const dataDir = sharedDataDir(t)
  await replace(t, path.join(dataDir, 'postgres', 'postgresql.conf'), 'no_such_setting = 1\n')
  await assert.rejects(openFor(t, { dataDir, mode: 'service' }), (error: Error) => {
    assert.match(
      error.message,
      /^PostgreSQL did not start in .*: .*contains errors.* \(see .*postgres\.log\)$/,
    )
    return true
  })
})

test('what ends a server while it recovers is told, though one of its processes says so', async (t) => {
  const dataDir = sharedDataDir(t)
  const written = path.join(dataDir, 'postgres', 'pg_wal')
  for (const name of (await readdir(written)).filter((one) => /^[0-9A-F]{24}$/.test(one))) {
    await rename(path.join(written, name), path.join(dataDir, name))
    t.after(() => rename(path.join(dataDir, name), path.join(written, name)))
  }
  await assert.rejects(
    openFor(t, { dataDir, mode: 'service' }),
    /: PostgreSQL did not start in .*: could not locate a valid checkpoint record.* \(see .*postgres\.log\)$/,
  )
})

test('a log of more than ten megabytes is put aside at the next start', async (t) => {
  const dataDir = sharedDataDir(t)
  const log = path.join(dataDir, 'postgres.log')
  await writeFile(log, Buffer.alloc(11 * 1024 * 1024, '.'))
  await opens(t, dataDir)
  assert.ok((await stat(log)).size < 100_000)
  assert.ok((await stat(`${log}.1`)).size > 10_000_000)
})

test('the log of a server that runs on is put aside too, and what ends it is told', async (t) => {
  const dataDir = sharedDataDir(t)
  const log = path.join(dataDir, 'postgres.log')
  const [lines, lost]: [string[], string[]] = [[], []]
  const { url } = await openFor(t, {
    dataDir,
    mode: 'service',
    onLog: (line) => lines.push(line),
    onExit: (detail) => lost.push(detail),
  })
  const sizes = async () => Promise.all([log, `${log}.1`].map(async (file) => (await stat(file)).size))
  const long = `do $$ begin for i in 1..120 loop raise log 'number % %', i, repeat('x', 100000); end loop; end $$`
  for (let round = 0; round < 3; round++) {
    await query(url, long)
    await eventually(async () => (await stat(log)).size < 1_000_000)
  }
  assert.ok((await sizes()).every((size) => size < 25_000_000))
  assert.equal((await stat(`${log}.1`)).mode & 0o777, 0o600)
  assert.deepEqual(
    lines.flatMap((line) => /number (\d+) /.exec(line)?.[1] ?? []).map(Number),
    [1, 2, 3].flatMap(() => Array.from({ length: 120 }, (_, i) => i + 1)),
  )
  process.kill(await runningPid(dataDir), 'SIGQUIT')
  await eventually(() => lost.length > 0)
  await eventually(() => lines.some((line) => line.includes('received immediate shutdown request')))
  assert.match(await readFile(log, 'utf8'), /received immediate shutdown request/)
  await opens(t, dataDir)
})

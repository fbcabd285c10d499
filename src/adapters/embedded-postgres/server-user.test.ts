import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { locateBinaries } from './binaries.ts'
import { hold, makeDataDir, openFor, query, runningPid, shareDataDir } from './fixtures/testing.ts'
import { isReachable } from './reach.ts'
import { isRoot, parseUsers } from './server-user.ts'

const sharedDataDir = shareDataDir()

const uidOf = async (pid: number) => {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'uid=', '-p', String(pid)])
  return Number(stdout)
}

const ordinary = async () => {
  const nobody = parseUsers(await readFile('/etc/passwd', 'utf8')).get('nobody')
  assert.ok(nobody !== undefined)
  return nobody
}

const enter = async (dataDir: string, mode: number) => {
  await mkdir(path.dirname(dataDir), { recursive: true })
  await chmod(path.dirname(dataDir), mode)
}

test('the server never runs as root, also below a folder that only we can enter', async (t) => {
  const dataDir = sharedDataDir(t)
  await enter(dataDir, 0o700)
  const first = await openFor(t, { dataDir, mode: 'service' })
  const uid = await uidOf(await runningPid(dataDir))
  assert.equal(uid === process.getuid?.(), !isRoot())
  assert.notEqual(uid, 0)
  assert.equal((await stat(path.join(dataDir, 'postgres'))).uid, uid)
  await query(first.url, 'create table kept as select 1 as number; checkpoint')
  await first.stop()
  const second = await openFor(t, { dataDir, mode: 'service' })
  assert.deepEqual(await query(second.url, 'select number from kept'), [{ number: 1 }])
})

// Another user can run this test's child only from a checkout that it can enter.
const lentUser = async () => {
  if (!isRoot()) return undefined
  const user = await ordinary()
  return (await isReachable((await locateBinaries()).native, user)) ? user : undefined
}

const asOrdinaryUser = async (t: TestContext, dataDir: string) => {
  const user = await lentUser()
  if (user === undefined) return hold(t, { dataDir })
  await chown(dataDir, user.uid, user.gid)
  return hold(t, { dataDir, ...user })
}

test('an ordinary user runs the server as itself, and root then runs it as that user', async (t) => {
  const dataDir = await makeDataDir(t)
  await enter(dataDir, 0o711)
  await mkdir(dataDir, { mode: 0o700 })
  const holder = await asOrdinaryUser(t, dataDir)
  const { url = '', error } = await holder.next()
  assert.equal(error, undefined)
  const uid = await uidOf(await runningPid(dataDir))
  const user = await lentUser()
  if (user !== undefined || !isRoot()) assert.equal(uid, user?.uid ?? process.getuid?.())
  assert.notEqual(uid, 0)
  await query(url, 'create table kept as select 2 as number')
  assert.deepEqual(await holder.stop(), { stopped: true })

  const again = await openFor(t, { dataDir, mode: 'command' })
  assert.equal(await uidOf(await runningPid(dataDir)), uid)
  assert.deepEqual(await query(again.url, 'select number from kept'), [{ number: 2 }])
  await again.stop()
  const third = await (await asOrdinaryUser(t, dataDir)).next()
  assert.deepEqual(await query(third.url ?? '', 'select number from kept'), [{ number: 2 }])
})

test('a cluster that root brought back from a copy is handed to the server again', async (t) => {
  const dataDir = sharedDataDir(t)
  const cluster = path.join(dataDir, 'postgres')
  if (isRoot()) await promisify(execFile)('chown', ['-R', '0:0', cluster])
  const postgres = await openFor(t, { dataDir, mode: 'service' })
  assert.deepEqual(await query(postgres.url, 'select 1 as one'), [{ one: 1 }])
  assert.equal((await stat(cluster)).uid, await uidOf(await runningPid(dataDir)))
})

test('users are read from their file', () => {
  const users = parseUsers('root:x:0:0:root:/root:/bin/sh\n\nnobody:x:65534:65533::/:/no\nbroken\n')
  assert.deepEqual(users.get('nobody'), { uid: 65534, gid: 65533 })
  assert.equal(users.size, 2)
})

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { type Binaries, locateBinaries, makeLinks, prepareBinaries } from './binaries.ts'
import { isReachable } from './reach.ts'
import { isRoot, spawnAs } from './server-user.ts'

const stranger = { uid: 65533, gid: 65533 }

const makeFolder = async (t: TestContext) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'posthorn-binaries-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

let hidden: Binaries = { native: '', version: '', major: '' }

// The package as it stands in a folder of root's after an install without scripts.
before(async () => {
  const found = await locateBinaries()
  const top = await mkdtemp(path.join(os.tmpdir(), 'posthorn-binaries-'))
  hidden = { ...found, native: path.join(top, 'native') }
  await cp(found.native, hidden.native, { recursive: true, verbatimSymlinks: true })
  await dropLinks()
})

after(() => rm(path.dirname(hidden.native), { recursive: true, force: true }))

const dropLinks = async () => {
  const lib = path.join(hidden.native, 'lib')
  for (const entry of await readdir(lib, { withFileTypes: true }))
    if (entry.isSymbolicLink()) await rm(path.join(lib, entry.name))
}

const runs = async ({ native }: Binaries) => {
  const user = isRoot() ? stranger : undefined
  const run = promisify(execFile)(path.join(native, 'bin', 'postgres'), ['--version'], spawnAs(user, '/'))
  return (await run).stdout
}

test('the programs of this platform are found', async (t) => {
  const found = await locateBinaries()
  assert.equal(found.major, '18')
  // The checkout itself may lie where only we can enter.
  const home = { dataDir: await makeFolder(t), user: isRoot() ? stranger : undefined }
  assert.match(await runs(await prepareBinaries(found, home)), /PostgreSQL\) 18\./)
})

test('a platform without programs is told to bring its own server', async () => {
  await assert.rejects(locateBinaries('sunos-sparc'), {
    name: 'EmbeddedPostgresError',
    message: /no embedded PostgreSQL for sunos-sparc in this installation: set DATABASE_URL/,
  })
})

test('links that the install script did not make are made', async () => {
  await dropLinks()
  const list: { target: string }[] = JSON.parse(
    await readFile(path.join(hidden.native, 'pg-symlinks.json'), 'utf8'),
  )
  assert.equal(await makeLinks(hidden.native), true)
  for (const { target } of list) {
    const link = path.join(hidden.native, '..', target)
    assert.ok((await lstat(link)).isSymbolicLink() && (await stat(link)).isFile())
  }
  assert.equal(await makeLinks(hidden.native), true)
})

test('a folder is reachable when every parent lets the user through', async () => {
  const { native } = hidden
  await makeLinks(native)
  const top = path.dirname(native)
  const seen = async (mode: number) => {
    await chmod(top, mode)
    return [await isReachable(native, stranger), await isReachable(native, await stat(top))]
  }
  assert.deepEqual(await seen(0o755), [true, true])
  assert.deepEqual(await seen(0o711), [true, true])
  assert.deepEqual(await seen(0o700), [false, true])
  await chmod(top, 0o755)
  await chmod(path.join(native, 'lib'), 0o700)
  assert.equal(await isReachable(native, stranger), false)
  await chmod(path.join(native, 'lib'), 0o755)
  await chmod(top, 0o700)
})

test('programs out of reach are copied once, complete and for all to run', async (t) => {
  await dropLinks()
  const dataDir = await makeFolder(t)
  await chmod(dataDir, 0o711)
  const cacheDir = path.join(dataDir, 'cache')
  const umask = process.umask(0o077)
  t.after(() => process.umask(umask))
  const prepare = () => prepareBinaries(hidden, { dataDir, user: stranger, cacheDir })
  const [copy, same] = await Promise.all([prepare(), prepare()])
  assert.equal(copy.native, path.join(cacheDir, `postgresql-${hidden.version}`))
  assert.deepEqual(same, copy)
  assert.deepEqual(await readdir(cacheDir), [path.basename(copy.native)])
  assert.match(await runs(copy), /PostgreSQL\) 18\./)
  const made = await stat(copy.native)
  assert.equal(made.mode & 0o777, 0o755)
  assert.deepEqual(await prepare(), copy)
  assert.equal((await stat(copy.native)).ino, made.ino)
})

test('a copy that another user could have changed is refused', async (t) => {
  const dataDir = await makeFolder(t)
  const prepare = (cacheDir: string) => prepareBinaries(hidden, { dataDir, user: stranger, cacheDir })
  const open = path.join(dataDir, 'open')
  await mkdir(open)
  await chmod(open, 0o777)
  await assert.rejects(prepare(open), /open could be changed by another user: remove it/)

  const cacheDir = path.join(dataDir, 'cache')
  const copy = path.join(cacheDir, `postgresql-${hidden.version}`)
  await mkdir(copy, { recursive: true })
  await writeFile(path.join(copy, '.complete'), '')
  await chmod(copy, 0o775)
  await assert.rejects(prepare(cacheDir), /could be changed by another user/)
  await rm(copy, { recursive: true })
  await symlink(open, copy)
  await assert.rejects(prepare(cacheDir), /could be changed by another user/)
})

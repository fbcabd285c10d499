import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isOwnedElsewhere } from './elsewhere.ts'
import { openFor, query, shareDataDir } from './fixtures/testing.ts'

const sharedDataDir = shareDataDir()
const skip = process.platform !== 'linux' && 'only Linux has containers'

/** As a service in another container tells of itself: its processes have numbers of their own there. */
const ownerElsewhere = async (dataDir: string) => {
  const server = createServer((socket) => socket.end('pid:[1]'))
  server.listen(path.join(dataDir, 'posthorn.sock'))
  await once(server, 'listening')
  return async () => {
    server.close()
    await once(server, 'close')
  }
}

test('whoever uses a data folder says so there, and is no stranger to those that see it', {
  skip,
}, async (t) => {
  const dataDir = sharedDataDir(t)
  const { stop } = await openFor(t, { dataDir, mode: 'service' })
  assert.equal((await stat(path.join(dataDir, 'posthorn.sock'))).mode & 0o777, 0o600)
  assert.equal(await isOwnedElsewhere(dataDir), false)
  await stop()
  assert.ok(!(await readdir(dataDir)).includes('posthorn.sock'))
})

test('a data folder that a container beside this one uses is waited for, then refused', {
  skip,
}, async (t) => {
  const dataDir = sharedDataDir(t)
  const leave = await ownerElsewhere(dataDir)
  let waited = 0
  const asked = { dataDir, mode: 'service' as const, onWait: () => waited++ }
  await assert.rejects(openFor(t, { ...asked, waitMs: 500 }), /in use by a Posthorn in another container/)
  assert.ok(!(await readdir(path.join(dataDir, 'postgres'))).includes('postmaster.pid'))
  const opening = openFor(t, { ...asked, waitMs: 10_000 })
  await sleep(300)
  await leave()
  const { url } = await opening
  assert.equal(waited, 2)
  assert.deepEqual(await query(url, 'select 1 as one'), [{ one: 1 }])
})

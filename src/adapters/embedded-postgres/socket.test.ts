import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { makeDataDir, openFor, query, shareDataDir } from './fixtures/testing.ts'

const sharedDataDir = shareDataDir()

const socketsIn = async (dataDir: string) =>
  (await readdir(path.join(dataDir, 'postgres'))).filter((name) => name.startsWith('.s.PGSQL.'))

test('those near it reach the server without the network, and a start clears what a killed one left', async (t) => {
  const dataDir = sharedDataDir(t)
  const first = await openFor(t, { dataDir, mode: 'service' })
  assert.equal(new URL(first.nearUrl).hostname, encodeURIComponent(path.join(dataDir, 'postgres')))
  assert.deepEqual(await query(first.nearUrl, 'select inet_client_addr() as client'), [{ client: null }])
  await assert.rejects(query(first.nearUrl.replace(/:[\w-]{43}@/, ':wrong@'), 'select 1'), { code: '28P01' })
  await first.stop()
  assert.deepEqual(await socketsIn(dataDir), [])

  // This process lives, and is no server.
  const lock = path.join(dataDir, 'postgres', `.s.PGSQL.${first.port}.lock`)
  await writeFile(lock, `${process.pid}\n/proc/self/cwd\n1\n${first.port}\n.\n`)
  const second = await openFor(t, { dataDir, mode: 'service', port: first.port })
  assert.equal(second.nearUrl, first.nearUrl)
  assert.deepEqual(await query(second.nearUrl, 'select 1 as one'), [{ one: 1 }])
})

test('where the path is too long for a socket, the server is reached over the network', async (t) => {
  const dataDir = path.join(await makeDataDir(t), 'x'.repeat(120))
  const { nearUrl, url, stop } = await openFor(t, { dataDir, mode: 'service' })
  assert.equal(nearUrl, url)
  assert.deepEqual(await query(url, `select current_setting('unix_socket_directories') as dirs`), [
    { dirs: '' },
  ])
  await stop()
})

// The service is killed in the midst of uploads and deletions: no row is left without its file, no file without a row.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { mediaJob } from '../../src/features/media/clear-files.ts'
import { makeMediaApp, upload } from '../../src/features/media/fixtures/app.ts'
import { make, noise } from '../../src/features/media/fixtures/images.ts'
import { runOnce } from '../../src/kernel/job.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { readConfig } from '../../src/main/config.ts'
import { openMediaStorage } from '../../src/main/media.ts'
import { query } from '../processes/empty-database.ts'
import { sparePort } from '../spare-port.ts'
import { randomFrom, seed } from './random.ts'
import { kill, startWorker } from './worker.ts'

const app = await makeMediaApp()
const storage = openMediaStorage(readConfig({ POSTHORN_DATA_DIR: app.dataDir }))
const content = await make('png')
const random = randomFrom(seed)

async function startService(killAt = '') {
  const port = await sparePort()
  const env = { POSTHORN_DATA_DIR: app.dataDir, KILL_AT: killAt, PORT: String(port) }
  const worker = await startWorker('media-worker.ts', app.databaseUrl, env)
  return { worker, url: `http://127.0.0.1:${port}` }
}

/** Long after the kill. */
const clear = () =>
  runOnce(mediaJob({ storage, log: silentLog }), {
    db: app.pools.db,
    now: () => new Date(Date.now() + 3_600_000),
  })

async function assertWhole(images: number): Promise<void> {
  const rows = await query<{ state: string; file: string }>(app.databaseUrl, 'select state, file from media')
  const named = rows.map(({ file }) => file.split('/').at(-1)).sort()
  assert.deepEqual(new Set(rows.map(({ state }) => state)), new Set(images > 0 ? ['stored'] : []))
  assert.deepEqual((await app.files()).sort(), named)
  const { body } = await app.call('GET', '/v3/media?limit=200')
  assert.equal(body.count, images)
  for (const { url } of body.images) assert.equal((await app.see(url)).status, 200)
}

for (const point of ['before write', 'half written', 'after write']) {
  test(`an upload killed ${point} leaves nothing`, async () => {
    const { worker, url } = await startService(point)
    const ended = once(worker, 'exit')
    await assert.rejects(upload(url, app.key, { content, name: 'a.png' }))
    assert.deepEqual(await ended, [null, 'SIGKILL'])
    const [left] = await query(app.databaseUrl, 'select state from media')
    assert.equal(left?.state, 'pending')
    await clear()
    await assertWhole(0)
  })
}

for (const point of ['before remove', 'after remove']) {
  test(`a deletion killed ${point} is finished by another`, async () => {
    const { body } = await app.upload(content)
    const { worker, url } = await startService(point)
    const ended = once(worker, 'exit')
    await fetch(`${url}/v3/media/${body.uuid}`, { method: 'DELETE', headers: { 'api-key': app.key } })
    assert.deepEqual(await ended, [null, 'SIGKILL'])
    assert.equal((await app.see(body.url)).status, 404)
    await clear()
    await assertWhole(0)
  })
}

test('killed at any moment, all that was promised is there and nothing else lies about', async (t) => {
  t.diagnostic(`POSTHORN_SEED=${seed}`)
  const large = await noise(400, 300).png().toBuffer()
  const promised: string[] = []
  for (let turn = 0; turn < 3; turn++) {
    const { worker, url } = await startService()
    const loops = [1, 2, 3].map(async (n) => {
      for (;;) {
        const reply = await upload(url, app.key, { content: n === 1 ? large : content, name: `${n}.png` })
        if (reply.status === 201) promised.push(reply.body.uuid)
      }
    })
    const ended = Promise.allSettled(loops)
    await pause(700 + random() * 500)
    await kill(worker)
    await ended
  }
  await clear()
  const { body } = await app.call('GET', '/v3/media?limit=200')
  const there = new Set(body.images.map(({ uuid }: { uuid: string }) => uuid))
  t.diagnostic(`${promised.length} promised, ${there.size} there`)
  assert.ok(promised.length > 0)
  for (const uuid of promised) assert.ok(there.has(uuid), uuid)
  await assertWhole(there.size)
})

// The library in a bucket, as the settings ask for it.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startS3Server } from '../adapters/s3-storage/stand-in.ts'
import { mediaJob } from '../features/media/clear-files.ts'
import { makeMediaApp } from '../features/media/fixtures/app.ts'
import { make } from '../features/media/fixtures/images.ts'
import { runOnce } from '../kernel/job.ts'
import { silentLog } from '../kernel/log.ts'
import { readConfig } from './config.ts'
import { openMediaStorage } from './media.ts'

const folder = await mkdtemp(join(tmpdir(), 'posthorn-bucket-'))
const server = await startS3Server({ folder, bucket: 'pictures' })
after(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})
const env = {
  POSTHORN_MEDIA_STORAGE: 's3://pictures/mail',
  POSTHORN_S3_ENDPOINT: server.endpoint,
  AWS_ACCESS_KEY_ID: server.credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
}

test('images are kept in the bucket, shown from it and removed from it', async () => {
  const app = await makeMediaApp({ env })
  const storage = openMediaStorage(readConfig(env))
  await storage.verify()
  const { body } = await app.upload(await make('webp'))
  const seen = await app.see(body.url)
  const bytes = Buffer.from(await seen.arrayBuffer())
  assert.deepEqual([seen.status, bytes.length], [200, body.size])
  assert.deepEqual(await app.files(), [])
  const name = `${body.uuid.slice(0, 2)}/${body.uuid.slice(2, 4)}/${body.uuid}.webp`
  const file = await storage.read(name)
  file?.resume()
  assert.ok(file)
  await app.call('DELETE', `/v3/media/${body.uuid}`)
  const job = mediaJob({ storage, log: silentLog })
  await runOnce(job, { db: app.pools.db, now: () => new Date() })
  assert.equal(await storage.read(name), undefined)
})

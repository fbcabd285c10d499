// Against a server of the protocol on this machine.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import type { FileStorage } from '../../kernel/ports.ts'
import { openS3Storage } from './s3-storage.ts'
import { startS3Server } from './stand-in.ts'

const folder = await mkdtemp(join(tmpdir(), 'posthorn-s3-'))
const server = await startS3Server({ folder, bucket: 'pictures' })
after(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})
const options = { bucket: 'pictures', prefix: 'mail/media', region: 'eu-west-3', ...server }
const name = 'ab/cd/abcd-1.png'
const content = Buffer.from('one')

const readAll = async (storage: FileStorage, wanted: string) => {
  const file = await storage.read(wanted)
  return file && (await buffer(file))
}

test('a file is what was written, until it is removed', async () => {
  const storage = openS3Storage(options)
  assert.equal(await storage.read(name), undefined)
  await storage.write(name, content, 'image/png')
  assert.deepEqual(await readAll(storage, name), content)
  const whole = openS3Storage({ ...options, prefix: '' })
  assert.deepEqual(await readAll(whole, `mail/media/${name}`), content)
  assert.equal(await whole.read(name), undefined)
  await storage.remove(name)
  assert.equal(await storage.read(name), undefined)
  await storage.remove(name)
})

test('a file of megabytes comes back whole', async () => {
  const storage = openS3Storage(options)
  const large = Buffer.alloc(12 * 1024 * 1024, 'posthorn')
  await storage.write(name, large, 'image/png')
  assert.ok((await readAll(storage, name))?.equals(large))
  await storage.remove(name)
})

test('verifying leaves nothing, and fails where nothing can be written', async () => {
  await openS3Storage(options).verify()
  await assert.rejects(openS3Storage({ ...options, bucket: 'nowhere' }).verify(), /bucket/i)
  const credentials = { accessKeyId: 'x', secretAccessKey: 'y' }
  await assert.rejects(openS3Storage({ ...options, credentials }).verify())
})

test('a server that is silent, or not there, is an error in time', async () => {
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as { port: number }
  const storage = openS3Storage({ ...options, endpoint: `http://127.0.0.1:${port}`, timeoutMs: 200 })
  const started = performance.now()
  await assert.rejects(storage.read(name))
  await assert.rejects(storage.write(name, content, 'image/png'))
  assert.ok(performance.now() - started < 10_000)
  silent.close()
  await assert.rejects(openS3Storage({ ...options, endpoint: 'http://127.0.0.1:9' }).read(name))
})

test('a file whose sending stops in its middle is an error in time', { timeout: 30_000 }, async (t) => {
  const stalling = createHttpServer((_, reply) => {
    reply.writeHead(200, { 'content-length': 9 }).write('one')
  })
  t.after(() => {
    stalling.closeAllConnections()
    stalling.close()
  })
  await new Promise<void>((resolve) => stalling.listen(0, '127.0.0.1', resolve))
  const { port } = stalling.address() as { port: number }
  const storage = openS3Storage({ ...options, endpoint: `http://127.0.0.1:${port}`, timeoutMs: 200 })
  await assert.rejects(readAll(storage, name), { name: 'TimeoutError' })
})

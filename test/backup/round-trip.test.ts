// What comes back is what was there, to the last octet.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { knownMigrations, migrationsTable } from '../../src/main/migrate.ts'
import { makeApp, makeDatabase } from '../app.ts'
import { makeEmptyDatabase, query } from '../processes/empty-database.ts'
import { until } from '../until.ts'
import { backup, dataFolder, makeOwnedDatabase, portrait, restore } from './grounds.ts'

const dataDir = dataFolder('source')
const app = await makeApp({ deliver: true, env: { POSTHORN_DATA_DIR: dataDir } })
const long = `${'a-name-beyond-the-hundred-octets-of-a-header/'.repeat(3)}ünï.png`
const picture = randomBytes(300_000)
const names = ['\\N', 'tab\tnew\nline\r\\.', '', '🎺 “Horn”', '\\.', 'x'.repeat(400)]
const secretKey = `${'ab'.repeat(32)}\n`
let file = ''

async function change(path: string, body: object, method = 'POST') {
  const reply = await app.call(method, path, { body })
  assert.ok(reply.status < 300, `${path}: ${reply.text}`)
  return reply.body
}

test('an installation with something of everything', async () => {
  await mkdir(join(dataDir, 'media', long, '..'), { recursive: true })
  await writeFile(join(dataDir, 'media', long), picture)
  await writeFile(join(dataDir, 'media', 'empty'), '')
  await writeFile(join(dataDir, 'secret-key'), secretKey)
  const { id } = await change('/v3/contacts/lists', { name: 'All' })
  const content = Buffer.from([...Array(256).keys()]).toString('base64')
  for (const [at, FIRSTNAME] of names.entries()) {
    const email = `p${at}@example.com`
    await change('/v3/contacts', { email, attributes: { FIRSTNAME }, listIds: [id] })
    const mail = { from: 'shop@example.com', to: email, subject: 'Hello', text: `Dear ${FIRSTNAME}` }
    const attachments = [{ filename: 'all.bin', content }]
    await change('/api/v1/transactional/send', { ...mail, attachments, metadata: { note: FIRSTNAME } })
  }
  const bought = { type: 'purchase', amount: 1234567890.13, currency: 'EUR' }
  await change('/api/v1/campaigns/conversion', { email: 'p0@example.com', ...bought })
  await change('/api/v1/settings', { timezone: 'Asia/Tokyo' }, 'PUT')
  await change('/api/v1/domains', { domain: 'example.com' })
  const left = async () => (await query(app.databaseUrl, 'select 1 from delivery_queue limit 1')).length
  await until(async () => (await left()) === 0, 'the queue to be empty')
})

test('the backup is a file for its owner alone, and any tar can read it', async () => {
  const { media, rows, secretKeyIncluded, ...written } = await backup(app.databaseUrl, dataDir)
  file = written.file
  assert.deepEqual([media, rows > 20, secretKeyIncluded], [2, true, true])
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.equal((await stat(file)).size, written.bytes)
  const octets = await promisify(gunzip)(await readFile(file))
  assert.equal(octets.toString('latin1', 257, 262), 'ustar')
  assert.ok(octets.includes(`path=media/${long}\n`))
  const beside = await readdir(join(file, '..'))
  assert.deepEqual(
    beside.filter((name) => name.includes('part')),
    [],
  )
})

test('restored by its owner alone, everything is as it was', async () => {
  const [url, restored] = [await makeOwnedDatabase(), dataFolder('owned')]
  const done = await restore(url, { file, config: { dataDir: restored, secretKey: undefined } })
  assert.deepEqual([done.media, done.migrated], [2, []])
  assert.deepEqual(await portrait(url), await portrait(app.databaseUrl))
  assert.deepEqual(await readFile(join(restored, 'media', long)), picture)
  assert.equal((await stat(join(restored, 'media', 'empty'))).size, 0)
  assert.equal((await stat(join(restored, 'secret-key'))).mode & 0o777, 0o600)
  assert.equal(await readFile(join(restored, 'secret-key'), 'utf8'), secretKey)
})

test('over another installation, with --force, nothing of that one stays', async () => {
  const other = await makeDatabase()
  await query(other, `insert into accounts (name) select 'other ' || n from generate_series(1, 3) n`)
  const restored = dataFolder('replaced')
  await mkdir(join(restored, 'media'), { recursive: true })
  await writeFile(join(restored, 'media', 'old'), 'old')
  await writeFile(join(restored, 'secret-key'), `${'cd'.repeat(32)}\n`)
  const now = new Date('2026-11-15T10:00:00.000Z')
  await restore(other, { file, force: true, now, config: { dataDir: restored, secretKey: undefined } })
  assert.deepEqual(await portrait(other), await portrait(app.databaseUrl))
  assert.deepEqual((await readdir(join(restored, 'media'))).includes('old'), false)
  const kept = 'before-restore-20261115T100000000Z'
  assert.equal(await readFile(join(restored, `secret-key.${kept}`), 'utf8'), `${'cd'.repeat(32)}\n`)
  assert.equal(await readFile(join(restored, 'media', `.${kept}`, 'old'), 'utf8'), 'old')
})

test('a backup of the restored one is the same again', async () => {
  const [first, second] = [await makeEmptyDatabase(), await makeEmptyDatabase()]
  await restore(first, { file })
  const { file: again } = await backup(first, dataFolder('restored'))
  await restore(second, { file: again, config: { dataDir: dataFolder('third'), secretKey: undefined } })
  assert.deepEqual(await portrait(second), await portrait(app.databaseUrl))
})

test('a backup of an older version gets the migrations that came since', async () => {
  const old = await makeEmptyDatabase()
  const known = await knownMigrations()
  await query(old, migrationsTable)
  for (const { name, text, checksum } of known.slice(0, -2)) {
    await query(old, text)
    await query(old, 'insert into schema_migrations (name, checksum) values ($1, $2)', [name, checksum])
  }
  await query(old, `insert into accounts (name) values ('old')`)
  const { file: older } = await backup(old, dataFolder('none'))
  const url = await makeEmptyDatabase()
  const { migrated } = await restore(url, {
    file: older,
    config: { dataDir: dataFolder('new'), secretKey: undefined },
  })
  assert.deepEqual(
    migrated,
    known.slice(-2).map(({ name }) => name),
  )
  assert.deepEqual(await query(url, 'select name from accounts'), [{ name: 'old' }])
})

// A restore that stops between the commit of the database and the last of its files.
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../../src/main/config.ts'
import { openDatabase } from '../../src/main/database.ts'
import { makeDatabase } from '../app.ts'
import { query } from '../processes/empty-database.ts'
import { begin, makePlace } from '../processes/posthorn.ts'
import { until } from '../until.ts'
import { backup, dataFolder, restore } from './grounds.ts'

const [oldKey, newKey] = [`${'ab'.repeat(32)}\n`, `${'cd'.repeat(32)}\n`]

/** A database and a data folder, both of which tell whose they are. */
async function makeInstallation(name: string, key: string) {
  const [url, dataDir] = [await makeDatabase(), dataFolder(name)]
  await query(url, 'insert into accounts (name) values ($1)', [name])
  await mkdir(join(dataDir, 'media', 'sub'), { recursive: true })
  await writeFile(join(dataDir, 'media', `${name}.png`), name)
  await writeFile(join(dataDir, 'media', 'sub', 'both.png'), name)
  await writeFile(join(dataDir, 'secret-key'), key)
  return { url, dataDir, config: { dataDir, secretKey: undefined } }
}

const source = await makeInstallation('source', newKey)
const { file } = await backup(source.url, source.dataDir)

async function standingOf({ url, dataDir }: { url: string; dataDir: string }) {
  const [account] = await query<{ name: string }>(url, 'select name from accounts')
  const media = (await readdir(join(dataDir, 'media'))).filter((name) => !name.startsWith('.'))
  return {
    account: account?.name,
    key: await readFile(join(dataDir, 'secret-key'), 'utf8'),
    media: media.sort(),
    both: await readFile(join(dataDir, 'media', 'sub', 'both.png'), 'utf8'),
  }
}

const restored = { account: 'source', key: newKey, media: ['source.png', 'sub'], both: 'source' }

const open = async ({ url, dataDir }: { url: string; dataDir: string }) =>
  (await openDatabase(readConfig({ DATABASE_URL: url, POSTHORN_DATA_DIR: dataDir }), 'command')).close()

const leftIn = async (dataDir: string) =>
  (await readdir(dataDir, { recursive: true })).filter((name) => /restoring|under-way|part/.test(name))

test('after the commit, whoever opens the database next puts the files in place', async () => {
  const place = await makeInstallation('after', oldKey)
  const now = new Date('2026-11-15T10:00:00Z')
  const kept = 'before-restore-20261115T100000000Z'
  // In the way of the first file, and then of the media.
  const first = join(place.dataDir, `secret-key.${kept}.part`)
  const second = join(place.dataDir, 'media', `.${kept}.part`)
  await mkdir(first)
  await writeFile(second, '')
  await assert.rejects(
    restore(place.url, { file, force: true, now, config: place.config }),
    /the database is restored, but not all files .* are in place: EISDIR.*next start or command/,
  )
  assert.equal((await standingOf(place)).key, oldKey)
  await rm(first, { recursive: true })
  await assert.rejects(open(place), /not all files .* are in place: EEXIST/)
  const mixed = await standingOf(place)
  assert.deepEqual([mixed.account, mixed.key, mixed.media], ['source', newKey, ['after.png', 'sub']])
  await rm(second)
  await open(place)
  assert.deepEqual(await standingOf(place), restored)
  assert.deepEqual(await leftIn(place.dataDir), [])
  assert.equal(await readFile(join(place.dataDir, `secret-key.${kept}`), 'utf8'), oldKey)
  assert.equal(await readFile(join(place.dataDir, 'media', `.${kept}`, 'after.png'), 'utf8'), 'after')
})

test('before the commit, they stay as they were, and the service that starts says so', async () => {
  const place = await makeInstallation('before', oldKey)
  const before = await standingOf(place)
  await writeFile(join(place.dataDir, 'secret-key.restoring'), newKey)
  await mkdir(join(place.dataDir, 'media', '.restoring'))
  await writeFile(join(place.dataDir, 'media', '.restoring', 'source.png'), 'source')
  const journal = { id: 'never committed', suffix: 'x' }
  await writeFile(join(place.dataDir, 'restore-under-way.json'), JSON.stringify(journal))
  const { env, ...rest } = await makePlace({ DATABASE_URL: place.url, POSTHORN_DATA_DIR: place.dataDir })
  const service = begin({ ...rest, env }, '--role', 'worker', '--json')
  await until(async () => service.log().some(({ msg }) => msg === 'started'), 'the start of the service')
  assert.ok(service.log().some(({ msg }) => /interrupted before its commit/.test(String(msg))))
  await service.end('SIGTERM')
  assert.deepEqual(await standingOf(place), before)
  assert.deepEqual(await leftIn(place.dataDir), [])
})

test('the folder of media stays the same one, as a disk of its own has to', async () => {
  const place = await makeInstallation('mounted', oldKey)
  const { ino } = await stat(join(place.dataDir, 'media'))
  await mkdir(join(place.dataDir, 'media', 'lost+found'))
  await restore(place.url, { file, force: true, config: place.config })
  assert.equal((await stat(join(place.dataDir, 'media'))).ino, ino)
  const found = await standingOf(place)
  assert.deepEqual(found, { ...restored, media: ['lost+found', ...restored.media] })
})

test('every restore keeps what it replaces, and no backup has it', async () => {
  const place = await makeInstallation('twice', oldKey)
  const keys = [oldKey, `${'ef'.repeat(32)}\n`]
  for (const key of keys) {
    await writeFile(join(place.dataDir, 'secret-key'), key)
    await restore(place.url, { file, force: true, config: place.config })
  }
  const names = (await readdir(place.dataDir)).filter((name) => name.startsWith('secret-key.before-restore'))
  const kept = await Promise.all(names.sort().map((name) => readFile(join(place.dataDir, name), 'utf8')))
  assert.deepEqual(kept, keys)
  const media = await readdir(join(place.dataDir, 'media'))
  assert.equal(media.filter((name) => name.startsWith('.before-restore')).length, 2)
  assert.equal((await backup(place.url, place.dataDir)).media, 2)
})

test('a restore that is refused leaves nothing behind', async () => {
  const place = await makeInstallation('refused', oldKey)
  const broken = join(place.dataDir, '..', 'broken')
  const octets = await readFile(file)
  await writeFile(broken, octets.subarray(0, octets.length - 100))
  await assert.rejects(restore(place.url, { file: broken, force: true, config: place.config }), /broken/)
  assert.deepEqual(await leftIn(place.dataDir), [])
  assert.equal((await standingOf(place)).account, 'refused')
})

// What a restore refuses, before it has changed anything.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstat, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip, gzip, gzipSync } from 'node:zlib'
import { silentLog } from '../../src/kernel/log.ts'
import { openPools } from '../../src/main/wire.ts'
import { makeDatabase } from '../app.ts'
import { makeEmptyDatabase, query } from '../processes/empty-database.ts'
import { makePlace, run } from '../processes/posthorn.ts'
import { backup, dataFolder, folder, portrait, restore } from './grounds.ts'

const source = await makeDatabase()
await query(source, `insert into accounts (name) select 'account ' || n from generate_series(1, 5) n`)
const dataDir = dataFolder('source')
await mkdir(dataDir)
await writeFile(join(dataDir, 'secret-key'), `${'ab'.repeat(32)}\n`)
const { file } = await backup(source, dataDir)
const target = await makeEmptyDatabase()
const before = await portrait(target)

/** The backup with something changed in it. */
async function changed(name: string, change: (tar: Buffer) => Buffer): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, await promisify(gzip)(change(await promisify(gunzip)(await readFile(file)))))
  return path
}

function replaced(tar: Buffer, from: string, to: string): Buffer {
  const at = tar.indexOf(from)
  assert.ok(at > 0 && from.length === to.length)
  return Buffer.concat([tar.subarray(0, at), Buffer.from(to), tar.subarray(at + from.length)])
}

async function refused(path: string, says: RegExp): Promise<void> {
  await assert.rejects(restore(target, { file: path }), says)
  assert.deepEqual(await portrait(target), before)
}

test('nothing to back up', async () => {
  const file = join(folder, 'none')
  await assert.rejects(backup(await makeEmptyDatabase(), dataDir, file), /nothing in the database/)
  assert.equal((await readdir(folder)).includes('none'), false)
})

test('a restore that finds a disk full says so, and changes nothing', async () => {
  await query(
    target,
    `create function full_disk() returns event_trigger language plpgsql as $$
     begin raise sqlstate '53100' using message = 'could not extend file: No space left on device'; end $$`,
  )
  await query(target, 'create event trigger full_disk on ddl_command_end execute function full_disk()')
  const says = /nothing was restored, for a disk is full \(could not extend file.*make room/
  await assert.rejects(restore(target, { file }), says)
  await query(target, 'drop event trigger full_disk')
  await query(target, 'drop function full_disk')
  assert.deepEqual(await portrait(target), before)
})

test('a file that cannot be written to its end is named, and nothing of it stays', async () => {
  const beside = join(folder, 'bounded')
  await mkdir(beside)
  const program = fileURLToPath(new URL('../../bin/posthorn.js', import.meta.url))
  // A bound of the system's stands for a disk that is full.
  const bounded = spawn(
    'sh',
    ['-c', 'ulimit -f 1; exec "$@"', 'sh', process.execPath, program, 'backup', 'x.gz'],
    {
      cwd: beside,
      env: { PATH: process.env.PATH, DATABASE_URL: source, POSTHORN_DATA_DIR: dataDir },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const said = text(bounded.stderr)
  const [code] = await once(bounded, 'close')
  assert.deepEqual([code, await readdir(beside)], [1, []])
  assert.match(await said, /^posthorn: .*x\.gz cannot be written: EFBIG/)
})

test('a pipe and a file of somebody else stay what they are, and a link leads to the backup', async () => {
  const beside = join(folder, 'beside')
  await mkdir(beside)
  const place = await makePlace({ DATABASE_URL: source, POSTHORN_DATA_DIR: dataDir })
  const pipe = join(beside, 'pipe')
  await once(spawn('mkfifo', [pipe]), 'exit')
  const piped = await run(place, 'backup', pipe)
  assert.deepEqual(
    [piped.code, piped.err],
    [1, `posthorn: ${pipe} cannot be written: it is not a plain file\n`],
  )
  assert.equal((await lstat(pipe)).isFIFO(), true)

  const [link, real] = [join(beside, 'latest'), join(beside, 'real')]
  await writeFile(real, '')
  await symlink(real, link)
  assert.equal((await run(place, 'backup', link)).code, 0)
  assert.deepEqual([(await lstat(link)).isSymbolicLink(), (await stat(real)).size > 0], [true, true])

  // The older backup may be replaced, what is somebody's else is not.
  assert.equal((await run(place, 'backup', link)).code, 0)
  for (const [name, content] of [
    ['notes.txt', 'Do not lose these.'],
    ['other.gz', gzipSync('Nor these.')],
  ] as const) {
    const file = join(beside, name)
    await writeFile(file, content)
    const refused = await run(place, 'backup', file)
    assert.equal(refused.code, 1)
    assert.match(refused.err, /is not replaced: it holds something that is not a backup of Posthorn/)
    assert.deepEqual(await readFile(file), Buffer.from(content))
  }

  for (const name of ['', '-']) {
    const { code, err } = await run(place, 'backup', name)
    assert.deepEqual([code, err], [2, 'posthorn: a backup is written into a file: name one\n'])
  }
})

test('a draft that a killed backup left goes with the next one', async () => {
  const beside = join(folder, 'drafts')
  await mkdir(beside)
  const ended = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await once(ended, 'exit')
  const old = new Date(Date.now() - 2 * 3_600_000)
  const draft = (pid: number | undefined, hex: string) => `nightly.gz.${pid}-${hex}.part`
  const dead = draft(ended.pid, 'aaaaaa')
  const [alive, fresh] = [draft(process.pid, 'bbbbbb'), draft(ended.pid, 'cccccc')]
  for (const name of [dead, alive, fresh]) await writeFile(join(beside, name), 'secrets')
  for (const name of [dead, alive]) await utimes(join(beside, name), old, old)
  await backup(source, dataDir, join(beside, 'today.gz'))
  assert.deepEqual((await readdir(beside)).sort(), [alive, fresh, 'today.gz'].sort())
})

test('a file that is cut off, changed, or something else', async () => {
  const octets = await readFile(file)
  const half = join(folder, 'half')
  await writeFile(half, octets.subarray(0, octets.length / 2))
  await refused(half, /half cannot be read: unexpected end of file/)
  await refused(
    await changed('row', (tar) => replaced(tar, 'account 3', 'account 4')),
    /the backup is damaged: /,
  )
  await refused(
    await changed('sum', (tar) => replaced(tar, 'account 3', 'account X')),
    /damaged: its checksum/,
  )
  await refused(await changed('end', (tar) => tar.subarray(0, tar.indexOf('end.json'))), /ends in the midst/)
  await refused(await changed('tar', () => Buffer.alloc(2048, 'x')), /not a tar file/)
  await writeFile(half, 'no gzip')
  await refused(half, /incorrect header check; it is cut off or damaged, or no backup of Posthorn$/)
  await refused(join(folder, 'absent'), /ENOENT/)
})

test('a backup of a newer schema, or of another one under the same name', async () => {
  const newest =
    (await query<{ name: string }>(source, 'select max(name) as name from schema_migrations'))[0]?.name ?? ''
  const later = newest.replace(/^\d{4}/, '9999')
  await refused(
    await changed('newer', (tar) => replaced(tar, newest, later)),
    new RegExp(`has ${later}.*newer`),
  )
  const print =
    (await query<{ checksum: string }>(source, 'select checksum from schema_migrations'))[0]?.checksum ?? ''
  const other = await changed('other', (tar) => replaced(tar, print, '0'.repeat(print.length)))
  await refused(other, /made on another 0001/)
  await refused(
    await changed('format', (tar) => replaced(tar, '"format": 1', '"format": 2')),
    /format 2.*newer/,
  )
})

test('a file outside the folder of media', async () => {
  const media = join(dataDir, 'media')
  await mkdir(media)
  await writeFile(join(media, 'aa-bb-cc'), 'x')
  const { file: withMedia } = await backup(source, dataDir)
  const tar = await promisify(gunzip)(await readFile(withMedia))
  const path = join(folder, 'outside')
  await writeFile(path, await promisify(gzip)(replaced(tar, 'media/aa-bb-cc', 'media/../bb-cc')))
  await refused(path, /not the name of a file below/)
})

test('without the key that its secrets are sealed with', async () => {
  const [given, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const sealed = join(folder, 'sealed')
  const { writeBackup } = await import('../../src/main/backup/write-backup.ts')
  const config = { dataDir: dataFolder('empty'), secretKey: given }
  const progress = () => {}
  const written = await writeBackup({ url: source, config, file: sealed, now: new Date(), progress })
  assert.equal(written.secretKeyIncluded, false)
  await refused(sealed, /POSTHORN_SECRET_KEY/)
  const wrong = { dataDir: dataFolder('wrong'), secretKey: other }
  await assert.rejects(restore(target, { file: sealed, config: wrong }), /POSTHORN_SECRET_KEY/)
  const right = { dataDir: dataFolder('right'), secretKey: Buffer.concat([other, given]) }
  const { rows } = await restore(target, { file: sealed, config: right })
  assert.ok(rows > 5)
})

test('a database that holds something, is in use, or is another’s', async () => {
  await assert.rejects(restore(target, { file }), /not empty.*--force/)
  const pools = openPools({ url: target, log: silentLog, strict: false })
  await pools.db.transaction(async () => {
    await assert.rejects(restore(target, { file, force: true }), /using this database/)
  })
  await pools.close()
  assert.ok((await restore(target, { file, force: true })).rows > 5)
  const foreign = await makeEmptyDatabase()
  await query(foreign, 'create table orders (id int)')
  await assert.rejects(restore(foreign, { file, force: true }), /tables of another application/)
})

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { makeApp } from '../../test/app.ts'
import { seal } from '../kernel/seal.ts'
import { sql } from '../kernel/sql.ts'
import { ConfigFault, readConfig } from './config.ts'
import { openSecretKeys, strangeKeys } from './secret-key.ts'

const folder = await mkdtemp(join(tmpdir(), 'posthorn-secret-'))
after(() => rm(folder, { recursive: true }))

const newestOf = (config: Parameters<typeof openSecretKeys>[0]) => {
  const ask = openSecretKeys(config)
  return async () => (await ask())[0]
}

test('the key of the settings is used as it is, and no file is made', async () => {
  const dataDir = join(folder, 'unused')
  const given = Buffer.alloc(32, 7)
  assert.deepEqual(await newestOf({ secretKey: given, dataDir })(), given)
  await assert.rejects(stat(dataDir))
})

test('one is made at the first need, for its owner alone, whoever asks at the same time', async () => {
  const dataDir = join(folder, 'made')
  const ask = newestOf({ secretKey: undefined, dataDir })
  await assert.rejects(stat(dataDir))
  const others = Array.from({ length: 8 }, () => newestOf({ secretKey: undefined, dataDir })())
  const keys = await Promise.all([ask(), ask(), ...others])
  assert.equal(new Set(keys.map((key) => key?.toString('hex'))).size, 1)
  assert.deepEqual(await readdir(dataDir), ['secret-key'])
  assert.equal((await stat(join(dataDir, 'secret-key'))).mode & 0o777, 0o600)
  assert.equal((await readFile(join(dataDir, 'secret-key'), 'utf8')).length, 65)
})

test('a broken file is never replaced', async () => {
  await writeFile(join(folder, 'secret-key'), 'half\n')
  const ask = newestOf({ secretKey: undefined, dataDir: folder })
  await assert.rejects(ask(), (error) => error instanceof ConfigFault && /backup/.test(error.message))
})

test('several keys stand behind each other, the newest first, in the settings and in the file', async () => {
  const dataDir = join(folder, 'several')
  const [newest, older] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const given = `${newest.toString('base64')}, ${older.toString('hex')}`
  const { secretKey } = readConfig({ POSTHORN_SECRET_KEY: given })
  assert.deepEqual(await openSecretKeys({ secretKey, dataDir })(), [newest, older])
  assert.deepEqual(await newestOf({ secretKey, dataDir })(), newest)
  await mkdir(dataDir)
  await writeFile(join(dataDir, 'secret-key'), `${newest.toString('hex')}\r\n\n${older.toString('hex')}\n`)
  assert.deepEqual(await openSecretKeys({ secretKey: undefined, dataDir })(), [newest, older])
  for (const broken of [`${given},half`, ',']) {
    assert.throws(() => readConfig({ POSTHORN_SECRET_KEY: broken }), /POSTHORN_SECRET_KEY must be 32 random/)
  }
})

test('a key that the database has not seen is told of; one that is added in front of a known one is not', async () => {
  const { db } = (await makeApp()).pools
  const [first, second, stranger] = [1, 2, 3].map((octet) => Buffer.alloc(32, octet)) as [
    Buffer,
    Buffer,
    Buffer,
  ]
  const found: (string | undefined)[] = []
  for (const keys of [[first], [first], [stranger], [second, first], [second], [stranger, first, second]])
    found.push((await strangeKeys(db, async () => keys))?.slice(0, 12))
  assert.deepEqual(found, [undefined, undefined, 'this process', undefined, undefined, undefined])
})

test('a key that was replaced is missed where it sealed something', async () => {
  const { db } = (await makeApp()).pools
  const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const start = (...keys: Buffer[]) => strangeKeys(db, async () => keys)
  await start(first)
  await db.run(sql`
    insert into dkim_keys (account_id, domain, selector, private_key)
    select id, 'shop.example', 'ph1', ${seal(first, Buffer.from('secret'), 'label')}::bytea from accounts limit 1`)
  assert.equal(await start(second, first), undefined)
  assert.match(
    (await start(second)) ?? '',
    /^some secrets were sealed .*: those of DKIM keys \(1\)\. Put that key/,
  )
  assert.equal(await start(second, first), undefined)
})

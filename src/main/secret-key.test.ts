import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ConfigFault } from './config.ts'
import { openSecretKey } from './secret-key.ts'

const folder = await mkdtemp(join(tmpdir(), 'posthorn-secret-'))
after(() => rm(folder, { recursive: true }))

test('the key of the settings is used as it is, and no file is made', async () => {
  const dataDir = join(folder, 'unused')
  const given = Buffer.alloc(32, 7)
  assert.equal(await openSecretKey({ secretKey: given, dataDir })(), given)
  await assert.rejects(stat(dataDir))
})

test('one is made at the first need, for its owner alone, whoever asks at the same time', async () => {
  const dataDir = join(folder, 'made')
  const ask = openSecretKey({ secretKey: undefined, dataDir })
  await assert.rejects(stat(dataDir))
  const others = Array.from({ length: 8 }, () => openSecretKey({ secretKey: undefined, dataDir })())
  const keys = await Promise.all([ask(), ask(), ...others])
  assert.equal(new Set(keys.map((key) => key.toString('hex'))).size, 1)
  assert.deepEqual(await readdir(dataDir), ['secret-key'])
  assert.equal((await stat(join(dataDir, 'secret-key'))).mode & 0o777, 0o600)
  assert.equal((await readFile(join(dataDir, 'secret-key'), 'utf8')).length, 65)
})

test('a broken file is never replaced', async () => {
  await writeFile(join(folder, 'secret-key'), 'half\n')
  const ask = openSecretKey({ secretKey: undefined, dataDir: folder })
  await assert.rejects(ask(), (error) => error instanceof ConfigFault && /backup/.test(error.message))
})

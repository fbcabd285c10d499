import assert from 'node:assert/strict'
import { chown, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { silentLog } from '../kernel/log.ts'
import { openSecretKeys } from './secret-key.ts'
import { openTlsPair } from './tls-pair.ts'

const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-own-'))
after(() => rm(dataDir, { recursive: true }))
const skip = process.getuid?.() !== 0 && 'only root can make files for others'

test('what a start by root makes in the folder of an ordinary user, that user can read', {
  skip,
}, async () => {
  await chown(dataDir, 4711, 4711)
  await openSecretKeys({ secretKey: undefined, dataDir })()
  await openTlsPair({
    tlsCert: undefined,
    tlsKey: undefined,
    dataDir,
    host: 'localhost',
    now: new Date(),
    log: silentLog,
  })
  for (const name of ['secret-key', 'tls-cert.pem', 'tls-key.pem'])
    assert.equal((await stat(join(dataDir, name))).uid, 4711, name)
})

import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readConfig } from '../config.ts'
import { refuseMissingDatabase } from './with-database.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-closed-'))
after(() => rmSync(dataDir, { recursive: true, force: true }))
const look = () => refuseMissingDatabase(readConfig({ POSTHORN_DATA_DIR: dataDir }))

/** Root may read everything. */
function asNobody(act: () => void): void {
  const isRoot = process.geteuid?.() === 0
  chmodSync(dataDir, 0)
  if (isRoot) process.seteuid?.(65_534)
  try {
    act()
  } finally {
    if (isRoot) process.seteuid?.(0)
    chmodSync(dataDir, 0o700)
  }
}

test('a data folder that this user may not read is not called empty', () => {
  assert.throws(look, /there is no Posthorn in .*; start it once/)
  asNobody(() => assert.throws(look, /posthorn-closed-\w+ cannot be read by this user; run/))
})

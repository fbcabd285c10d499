import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { deadlineIn } from '../adapters/embedded-postgres/deadline.ts'
import { eventually, killServer, makeDataDir, query } from '../adapters/embedded-postgres/fixtures/testing.ts'
import { preparePlace } from '../adapters/embedded-postgres/place.ts'
import { startServer } from '../adapters/embedded-postgres/server.ts'
import { silentLog } from '../kernel/log.ts'
import type { Config } from './config.ts'
import { openDatabase } from './database.ts'

test('a service that took over a server without a socket is content with one that has it', async (t) => {
  const dataDir = await makeDataDir(t)
  // As an older version started it, or one on which somebody cleared the sockets away.
  const server = await startServer(await preparePlace(dataDir), deadlineIn(30_000))
  await rm(path.join(dataDir, 'postgres', `.s.PGSQL.${server?.port}`))
  const told: unknown[] = []
  const info = (...line: unknown[]) => told.push(...line)
  const log = Object.assign(Object.create(silentLog), { info })
  const service = await openDatabase({ dataDir } as Config, 'service', log)
  t.after(() => service.close())
  assert.equal(new URL(service.url).hostname, '127.0.0.1')
  await killServer(dataDir)
  await eventually(() => told.includes('the embedded database is back'))
  assert.deepEqual(await query(service.url, 'select 1 as one'), [{ one: 1 }])
})

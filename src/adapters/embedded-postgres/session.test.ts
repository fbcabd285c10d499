import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deadlineIn } from './deadline.ts'
import { eventually, openFor, query, runningPid, shareDataDir } from './fixtures/testing.ts'
import { preparePlace } from './place.ts'
import { connect } from './session.ts'

const sharedDataDir = shareDataDir()

test('a session that is lost before anybody listens tells whoever comes then', async (t) => {
  const dataDir = sharedDataDir(t)
  const { url, port } = await openFor(t, { dataDir, mode: 'service' })
  const server = { pid: await runningPid(dataDir), port, adopted: true }
  const session = await connect(await preparePlace(dataDir), server, deadlineIn(10_000))
  assert.ok(session)
  const [backend] = await session.query<{ pid: number }>('select pg_backend_pid() as pid')
  await query(url, `select pg_terminate_backend(${backend?.pid})`)
  await eventually(() => session.isLost())
  const told: string[] = []
  session.onLost(() => told.push('lost'))
  assert.deepEqual(told, ['lost'])
})

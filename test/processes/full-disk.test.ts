// Standard output and the log on a disk without room.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { makeDatabase } from '../app.ts'
import { makePlace } from './posthorn.ts'

const place = await makePlace({ DATABASE_URL: await makeDatabase() })
const program = fileURLToPath(new URL('../../bin/posthorn.js', import.meta.url))
const full = openSync('/dev/full', 'w')
after(() => closeSync(full))

function launch(args: string[], ...[out, err]: [number | 'pipe', number | 'pipe']) {
  const child = spawn(process.execPath, [program, ...args], { env: place.env, stdio: ['ignore', out, err] })
  after(() => child.kill('SIGKILL'))
  return { child, ended: once(child, 'close') }
}

test('a command whose standard output cannot be written fails in one line', async () => {
  const { child, ended } = launch(['account', 'list', '--json'], full, 'pipe')
  const said = await text(child.stderr as Readable)
  assert.deepEqual(await ended, [1, null])
  assert.match(said, /^posthorn: standard output cannot be written: ENOSPC.*\n$/)
})

test('a log that cannot be written ends no service', async () => {
  const { child, ended } = launch(['start'], 'pipe', full)
  const [first] = await Promise.race([once(child.stdout as Readable, 'data'), ended])
  assert.match(String(first), /Posthorn is ready/)
  // Each request is a line of the log, and each has its flush.
  for (let n = 0; n < 5; n++) {
    assert.equal((await fetch(`${place.url}/readyz`)).status, 200)
    await new Promise((resolve) => setTimeout(resolve, 110))
  }
  child.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
})

// Who is asked to stop, how often, and through whom.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually, keyIn, makePlace, serverPid, start } from './posthorn.ts'

const place = await makePlace()
let key = ''
const root = fileURLToPath(new URL('../..', import.meta.url))

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // It is over, as it should be.
  }
}

test('one Ctrl-C that comes twice, from the terminal and from npm, stops it cleanly', async () => {
  const service = await start(place)
  key = keyIn(service.out())
  process.kill(service.pid, 'SIGINT')
  process.kill(service.pid, 'SIGTERM')
  assert.deepEqual(await service.ended, { code: 0, signal: null })
  assert.equal(service.log().at(-1)?.msg, 'stopped')
  assert.deepEqual(
    service.log().filter(({ level }) => Number(level) >= 40),
    [],
  )
  assert.equal(await serverPid(place.dataDir), undefined)
})

test('whoever asks again while it waits for somebody is not kept waiting', async (t) => {
  const service = await start(place)
  const client = connect(place.port, '127.0.0.1')
  let heard = ''
  client.on('data', (chunk) => {
    heard += chunk
  })
  client.on('error', () => undefined)
  t.after(() => client.destroy())
  const head = [
    'PUT /api/v1/settings HTTP/1.1',
    'host: x',
    `api-key: ${key}`,
    'content-type: application/json',
  ]
  client.write(`${head.join('\r\n')}\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n`)
  await eventually(() => heard.includes('100 Continue'))
  let code: number | null | undefined
  service.ended.then((end) => {
    code = end.code
  })
  const started = performance.now()
  await eventually(() => {
    service.end('SIGINT')
    return code !== undefined
  })
  assert.equal(code, 1)
  assert.ok(performance.now() - started < 5_000)
})

test('a signal to what npm started for npm start is one to the service', async (t) => {
  const { scripts } = JSON.parse(await readFile(`${root}/package.json`, 'utf8'))
  const shell = spawn('/bin/sh', ['-c', scripts.start], { cwd: root, env: place.env, detached: true })
  t.after(() => killGroup(shell.pid ?? 0))
  let said = ''
  shell.stdout.on('data', (chunk) => {
    said += chunk
  })
  const ended = new Promise((resolve) => shell.on('exit', (code) => resolve(code)))
  await eventually(() => said.includes('Posthorn is ready.'))
  const database = await serverPid(place.dataDir)
  shell.kill('SIGTERM')
  assert.equal(await ended, 0)
  assert.notEqual(database, undefined)
  assert.equal(await serverPid(place.dataDir), undefined)
})

// One folder from its first start through kills to a clean stop: the tests follow each other.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { connect, createServer } from 'node:net'
import { test } from 'node:test'
import { killServer } from '../../src/adapters/embedded-postgres/fixtures/testing.ts'
import { sparePort } from '../../src/main/spare-port.ts'
import {
  begin,
  eventually,
  keyIn,
  makePlace,
  type Place,
  type Service,
  serverPid,
  start,
} from './posthorn.ts'

const place = await makePlace()
let service: Service
let key = ''

const settingsOf = async () => (await service.call('GET', '/api/v1/settings', { key })).body
const setTimezone = async (timezone: string) => {
  const { status } = await service.call('PUT', '/api/v1/settings', { key, body: { timezone } })
  assert.equal(status, 200)
}

/** A connection that has sent a request but for the last byte of its body, and the service has it in hand. */
async function sendAllButLastByte(port: number) {
  const body = JSON.stringify({ click_tracking: false })
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  socket.on('error', () => undefined)
  const ended = new Promise<string>((resolve) => socket.on('close', () => resolve(answer)))
  const lines = [
    'PUT /api/v1/settings HTTP/1.1',
    'host: x',
    `api-key: ${key}`,
    'content-type: application/json',
  ]
  lines.push(`content-length: ${body.length}`, 'expect: 100-continue')
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  await eventually(() => answer.includes('100 Continue'))
  socket.write(body.slice(0, -1))
  return { finish: () => socket.write(body.slice(-1)), ended }
}

/** A client that keeps its connection after an answer. */
function keepAlive(port: number): Promise<Agent> {
  const agent = new Agent({ keepAlive: true })
  return new Promise((resolve, reject) => {
    const asked = request({ agent, port, host: '127.0.0.1', path: '/livez' }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(agent))
    })
    asked.on('error', reject)
    asked.end()
  })
}

function refusesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.on('error', () => resolve(true))
  })
}

test('the first start on an empty folder prints the address, the documentation and a key', async () => {
  service = await start(place)
  key = keyIn(service.out())
  assert.match(key, /^phk_live_/)
  assert.ok(service.out().includes(`${place.url}/api/v1`), service.out())
  assert.ok(service.out().includes(`${place.url}/docs`))
  assert.match(service.out(), /The key is shown only now/)
  assert.equal((await service.call('GET', '/api/v1/usage', { key })).status, 200)
  assert.equal((await service.call('GET', '/docs')).status, 200)
  assert.ok(!service.err().includes(key))
})

test('after kill -9 of the service the next start has every acknowledged change, and no new key', async () => {
  await setTimezone('Asia/Tokyo')
  assert.equal((await service.end('SIGKILL')).signal, 'SIGKILL')
  service = await start(place)
  assert.equal(keyIn(service.out()), '')
  assert.equal((await settingsOf()).timezone, 'Asia/Tokyo')
})

test('after kill -9 of the service and of its database likewise', async () => {
  await setTimezone('America/New_York')
  await Promise.all([service.end('SIGKILL'), killServer(place.dataDir)])
  service = await start(place)
  assert.equal((await settingsOf()).timezone, 'America/New_York')
})

test('a database that dies under the service is started again', async () => {
  await killServer(place.dataDir)
  await eventually(async () => (await service.call('GET', '/readyz')).status === 200)
  assert.equal((await settingsOf()).timezone, 'America/New_York')
})

test('SIGTERM lets a request under way finish, ends idle connections and leaves no database behind', async (t) => {
  const agent = await keepAlive(place.port)
  t.after(() => agent.destroy())
  const underWay = await sendAllButLastByte(place.port)
  const started = performance.now()
  const ended = service.end('SIGTERM')
  await eventually(() => refusesConnections(place.port))
  underWay.finish()
  assert.match(await underWay.ended, /^HTTP\/1\.1 200 OK\r\n(.+\r\n)*connection: close\r\n/im)
  assert.deepEqual(await ended, { code: 0, signal: null })
  assert.ok(performance.now() - started < 10_000)
  assert.equal(await serverPid(place.dataDir), undefined)
})

test('a later start takes under five seconds, prints no key, and what was under way is done', async () => {
  let shortest = Number.POSITIVE_INFINITY
  // A machine that is busy with other tests gets a second and a third chance.
  for (let tries = 0; tries < 3 && shortest >= 5_000; tries++) {
    if (tries > 0) await service.end('SIGTERM')
    const started = performance.now()
    service = await start(place)
    shortest = Math.min(shortest, performance.now() - started)
  }
  assert.ok(shortest < 5_000, `${shortest} ms`)
  assert.equal(keyIn(service.out()), '')
  assert.equal((await settingsOf()).click_tracking, false)
})

test('an idle service takes less than 150 MB', async () => {
  for (let i = 0; i < 20; i++) await settingsOf()
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8')
  const megabytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
  assert.ok(megabytes < 150, `${megabytes} MB`)
})

test('SIGTERM ends within ten seconds even if a client never finishes its request', async () => {
  const stuck = await sendAllButLastByte(place.port)
  const started = performance.now()
  assert.deepEqual(await service.end('SIGTERM'), { code: 0, signal: null })
  assert.ok(performance.now() - started < 10_000)
  await stuck.ended
  assert.equal(await serverPid(place.dataDir), undefined)
})

test('SIGTERM during the start leaves no database behind either', async () => {
  const starting = begin(place)
  await eventually(async () => (await serverPid(place.dataDir)) !== undefined)
  assert.deepEqual(await starting.end('SIGTERM'), { code: 0, signal: null })
  assert.equal(await serverPid(place.dataDir), undefined)
})

test('a terminal that is closed stops it like SIGTERM; the report names the port of TLS from the start', async () => {
  const port = await sparePort('127.0.0.1')
  const closed = await start({ ...place, env: { ...place.env, POSTHORN_SMTPS_PORT: String(port) } })
  assert.match(closed.out(), new RegExp(`^  SMTPS     127\\.0\\.0\\.1:${port} `, 'm'))
  assert.deepEqual(await closed.end('SIGHUP'), { code: 0, signal: null })
  assert.equal(await serverPid(place.dataDir), undefined)
})

test('a port that is taken stops the start with a line that names it, and no database stays', async () => {
  const taken: Place = { ...place, env: { ...place.env, POSTHORN_LOG_LEVEL: 'silent' } }
  const blocker = await keepPort(place.port)
  const failed = begin(taken)
  const { code } = await failed.ended
  await blocker.close()
  assert.equal(code, 1)
  assert.match(failed.err(), new RegExp(`^posthorn: .*${place.port}.*\n$`))
  assert.equal(await serverPid(place.dataDir), undefined)
})

async function keepPort(port: number): Promise<{ close(): Promise<void> }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { close: () => new Promise((resolve) => server.close(() => resolve())) }
}

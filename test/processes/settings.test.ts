// What the environment says to `start`: the first key, wrong settings, and the log. On the tests' own server.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { TLSSocket } from 'node:tls'
import { generate } from 'selfsigned'
import { makeDatabase } from '../app.ts'
import { makeEmptyDatabase, query } from './empty-database.ts'
import { begin, type Env, eventually, keyIn, linesOf, makePlace, type Service, start } from './posthorn.ts'

const databaseUrl = await makeDatabase()
const makeService = async (env: Env = {}) => start(await makePlace({ DATABASE_URL: databaseUrl, ...env }))

async function startFails(env: Env) {
  const failed = begin(await makePlace({ DATABASE_URL: databaseUrl, ...env }))
  const { code } = await failed.ended
  return { code, out: failed.out(), lines: linesOf(failed.err()) }
}

const statusWith = async (service: Service, key: string) =>
  (await service.call('GET', '/api/v1/usage', { key })).status

const one = 'operator-chosen-key-number-one'
const two = 'operator-chosen-key-number-two'

test('POSTHORN_API_KEY is the unrestricted first key on every start; another value replaces it', async () => {
  const first = await makeService({ POSTHORN_API_KEY: one })
  assert.doesNotMatch(first.out(), /operator-chosen|phk_/)
  const { body } = await first.call('GET', '/api/v1/usage', { key: one })
  assert.deepEqual([body.key.daily_cap, body.key.sender_domains, body.key.mode], [null, null, 'live'])
  assert.equal((await first.call('PUT', '/api/v1/settings', { key: one, body: {} })).status, 200)
  await first.end('SIGTERM')

  await query(databaseUrl, `update api_keys set revoked_at = now(), scopes = '{}', daily_cap = 0`)
  const again = await makeService({ POSTHORN_API_KEY: one })
  assert.deepEqual([await statusWith(again, one), await statusWith(again, two)], [200, 401])
  await again.end('SIGTERM')

  const changed = await makeService({ POSTHORN_API_KEY: two })
  assert.deepEqual([await statusWith(changed, one), await statusWith(changed, two)], [401, 200])
  await changed.end('SIGTERM')
})

test('a key that is too short is refused in one line that does not show it', async () => {
  const { code, out, lines } = await startFails({ POSTHORN_API_KEY: 'hunter2hunter2' })
  assert.deepEqual([code, out, lines.length], [1, '', 1])
  assert.match(lines[0] ?? '', /^posthorn: POSTHORN_API_KEY must have 24/)
  assert.doesNotMatch(lines[0] ?? '', /hunter2/)
})

test('several wrong settings are all told, a line each', async () => {
  const { code, lines } = await startFails({
    POSTHORN_PORT: 'eighty',
    POSTHORN_LOG_LEVEL: 'loud',
    POSTHORN_RATE_LIMIT_FACTOR: '-1',
    DATABASE_URL: 'mysql://me:hunter2@h/d',
  })
  assert.equal(code, 1)
  assert.deepEqual(
    lines.map((line) => line.split(' ').slice(0, 3).join(' ')).sort(),
    ['DATABASE_URL', 'POSTHORN_LOG_LEVEL', 'POSTHORN_PORT', 'POSTHORN_RATE_LIMIT_FACTOR'].map(
      (name) => `posthorn: ${name} must`,
    ),
  )
  assert.doesNotMatch(lines.join(), /hunter2/)
})

test('a database that cannot be reached stops the start in one line, without its password', async () => {
  const { code, lines } = await startFails({ DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/d' })
  assert.deepEqual([code, lines.filter((line) => line.startsWith('posthorn: ')).length], [1, 1])
  assert.match(lines.join(), /DATABASE_URL must lead to .*ECONNREFUSED 127\.0\.0\.1:1/)
  assert.doesNotMatch(lines.join(), /hunter2/)
})

test('what stands between us and the database is told with what to do, in one line', async (t) => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: '127.0.0.1' }])
  const withTls = createServer((socket) => {
    socket.once('data', () => {
      socket.write('S')
      new TLSSocket(socket, { isServer: true, key, cert }).on('error', () => {})
    })
  })
  const pooler = createServer((socket) => {
    const fields = Buffer.from('SFATAL\0C08P01\0Munsupported startup parameter: options\0\0')
    socket.once('data', () =>
      socket.end(Buffer.concat([Buffer.from([69, 0, 0, 0, fields.length + 4]), fields])),
    )
  })
  const cases = [
    {
      server: withTls,
      query: '?sslmode=require',
      says: /self-signed certificate; .*sslrootcert=.*no-verify/,
    },
    { server: pooler, query: '', says: /startup parameter: options; .*ignore_startup_parameters = options,/ },
  ]
  for (const { server, query, says } of cases) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const { code, lines } = await startFails({ DATABASE_URL: `postgres://me@127.0.0.1:${port}/d${query}` })
    assert.deepEqual([code, lines.length], [1, 1], lines.join('\n'))
    assert.match(
      lines[0] ?? '',
      /^posthorn: DATABASE_URL must lead to a PostgreSQL server that takes us in: /,
    )
    assert.match(lines[0] ?? '', says)
  }
})

test('an address without the password that the server asks for is told as that', async () => {
  const { lines } = await startFails({
    DATABASE_URL: Object.assign(new URL(databaseUrl), { password: '' }).href,
  })
  assert.equal(lines.length, 1)
  assert.match(
    lines[0] ?? '',
    /^posthorn: DATABASE_URL must lead to .*it asks for a password, which belongs behind/,
  )
})

test('what shows only when a setting is used is told by its name as well', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.after(() => taken.close())
  const port = String((taken.address() as AddressInfo).port)
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'file')
  await writeFile(file, '')
  const bad: [Env, RegExp][] = [
    [{ POSTHORN_SMTP_PORT: port }, /^posthorn: POSTHORN_SMTP_PORT must be a free port: \d+ of 127/],
    [{ POSTHORN_PORT: port }, /^posthorn: POSTHORN_PORT must be a free port: \d+ of 127/],
    [{ POSTHORN_HOST: '203.0.113.7' }, /^posthorn: POSTHORN_HOST must be an address of this machine/],
    [{ POSTHORN_HOST: 'nowhere.invalid' }, /^posthorn: POSTHORN_HOST must be an address of this machine/],
    [
      { POSTHORN_DATA_DIR: file },
      /^posthorn: POSTHORN_DATA_DIR must be a folder .*\(a file is in its place\)/,
    ],
    [{ POSTHORN_DATA_DIR: join(file, 'x') }, /^posthorn: POSTHORN_DATA_DIR must be a folder/],
    [{ POSTHORN_DATA_DIR: '/proc/nope' }, /^posthorn: POSTHORN_DATA_DIR must be a folder .*\(ENOENT\)/],
    [{ POSTHORN_DNS: 'nowhere.invalid:53' }, /^posthorn: POSTHORN_DNS must name resolvers/],
  ]
  for (const [env, words] of bad) {
    const { code, lines } = await startFails(env)
    const said = lines.filter((line) => line.startsWith('posthorn: '))
    assert.deepEqual([code, said.length], [1, 1], lines.join('\n'))
    assert.match(said[0] ?? '', words)
    assert.equal(lines.at(-1), said[0], 'nothing is said after it')
  }
})

test('a first start that fails makes no key: of those that succeed afterwards one shows it', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.after(() => taken.close())
  const url = await makeEmptyDatabase()
  const port = String((taken.address() as AddressInfo).port)
  const wrong: Env[] = [{ POSTHORN_SMTP_PORT: port }, { POSTHORN_PORT: port }, { POSTHORN_TLS_CERT: '/nope' }]
  for (const env of wrong) {
    const { code, out } = await startFails({ DATABASE_URL: url, ...env })
    assert.deepEqual([code, out], [1, ''])
  }
  const places = await Promise.all([1, 2].map(() => makePlace({ DATABASE_URL: url })))
  const services = await Promise.all(places.map((place) => start(place, '--role', 'api')))
  const keys = services.map((service) => keyIn(service.out()))
  const [key, ...more] = keys.filter((one) => one !== '')
  assert.deepEqual(more, [])
  for (const service of services) assert.equal(await statusWith(service, key ?? ''), 200)
  const silent = services[keys.indexOf('')]
  assert.match(silent?.out() ?? '', /Key {7}made before; for another one: posthorn key create/)
  for (const service of services) await service.end('SIGTERM')
})

test('an unknown role is refused as a wrong call', async () => {
  const failed = begin(await makePlace({ DATABASE_URL: databaseUrl }), '--role', 'api,wroker')
  assert.equal((await failed.ended).code, 2)
  assert.match(failed.err(), /^posthorn: there is no role "wroker"; known: .*worker\n$/)
})

test('an unknown variable is warned about with the nearest name, and the service starts', async () => {
  const service = await makeService({ POSTHORN_PROT: '1' })
  const warning = service.log().find(({ level }) => level === 40)
  assert.equal(warning?.msg, 'POSTHORN_PROT is unknown; did you mean POSTHORN_PORT?')
  await service.end('SIGTERM')
})

test('a worker alone answers no requests and stops as quickly', async () => {
  const place = await makePlace({ DATABASE_URL: databaseUrl })
  const worker = await start(place, '--role', 'worker')
  await assert.rejects(worker.call('GET', '/livez'))
  assert.equal((await worker.end('SIGTERM')).code, 0)
})

test('each request leaves one JSON line without key, body or address', async () => {
  const key = 'operator-chosen-key-for-the-log'
  const service = await makeService({ POSTHORN_API_KEY: key })
  const headers = { 'x-request-id': 'my-request', authorization: 'Bearer hunter2' }
  const body = { default_sender: { email: 'private@secret.example' } }
  await service.call('PUT', '/api/v1/settings', { key, body, headers })
  await service.call('GET', '/nothing/private@secret.example?key=hunter2', { key })
  await service.call('GET', '/api/v1/audit-logs?cursor=hunter2', { key })
  await service.call('GET', '/api/v1/usage', { key: 'wrong-key-hunter2' })
  await service.call('PUT', '/api/v1/settings', { key, raw: '{"default_sender": private@secret.example' })
  await service.call('POST', '/mcp', { key, body: { jsonrpc: '2.0', id: 1, method: 'ping' } })
  const requests = () => service.log().filter(({ msg }) => msg === 'request')
  await eventually(() => requests().length === 6)
  assert.deepEqual(
    requests()
      .map(({ method, route, status }) => [method, route, status])
      .slice(0, 5),
    [
      ['PUT', '/api/v1/settings', 200],
      ['GET', null, 404],
      ['GET', '/api/v1/audit-logs', 422],
      ['GET', '/api/v1/usage', 401],
      ['PUT', '/api/v1/settings', 400],
    ],
  )
  assert.deepEqual([requests()[5]?.method, requests()[5]?.route], ['POST', '/mcp'])
  for (const line of requests()) {
    assert.equal(typeof line.ms, 'number')
    assert.match(String(line.requestId), /^(my-request|req_[0-9a-f]{32})$/)
    assert.ok(!Number.isNaN(Date.parse(String(line.time))))
  }
  await service.end('SIGTERM')
  assert.doesNotMatch(service.err(), /operator-chosen|hunter2|secret\.example|private/)
  // Every line of the log is JSON.
  assert.equal(service.log().length, linesOf(service.err()).length)
})

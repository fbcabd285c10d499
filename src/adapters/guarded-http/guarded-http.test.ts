import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { generate } from 'selfsigned'
import { GuardedFault, type GuardedRequest, openGuardedClient } from './guarded-http.ts'

type Seen = { method: string; url: string; headers: NodeJS.Dict<string | string[]>; body: string }
const seen: Seen[] = []

const replies: Record<string, (reply: ServerResponse, request: IncomingMessage) => void> = {
  '/ok': (reply) => reply.writeHead(200, { 'x-two': ['a', 'b'], 'content-type': 'text/plain' }).end('hello'),
  '/moved': (reply) => reply.writeHead(302, { location: 'http://127.0.0.1:1/' }).end('elsewhere'),
  '/declared': (reply) => {
    reply.writeHead(200, { 'content-length': '1000000000' })
    reply.flushHeaders()
  },
  '/endless': (reply) => {
    const pour = () => {
      while (reply.write(Buffer.alloc(64_000)));
    }
    reply.on('drain', pour)
    pour()
  },
  '/drip': (reply) => {
    const timer = setInterval(() => reply.write('x'), 20)
    reply.on('close', () => clearInterval(timer))
  },
  '/silent': () => {},
  '/broken': (reply) => reply.socket?.destroy(),
  '/packed': (reply) =>
    reply.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(5_000_000))),
  '/failed': (reply) => reply.writeHead(503).end('sorry'),
}

const server = createServer(async (request, reply) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { method = '', url = '', headers } = request
  seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
  replies[url]?.(reply, request)
})
let base = ''
const client = openGuardedClient({ allowPrivate: true, userAgent: 'Posthorn/1' })

before(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(async () => {
  await client.close()
  server.closeAllConnections()
  server.close()
})

const ask = (path: string, more: Partial<GuardedRequest> = {}) =>
  client.request({ url: base + path, maxBytes: 1000, timeoutMs: 5000, ...more })

const faultOf = async (answer: Promise<unknown>): Promise<GuardedFault> => {
  const error = await answer.then(
    () => assert.fail('it should have failed'),
    (reason) => reason,
  )
  assert.ok(error instanceof GuardedFault, String(error))
  return error
}

test('an answer comes with its status, headers and body', async () => {
  const answer = await ask('/ok')
  assert.equal(answer.status, 200)
  assert.equal(answer.body.toString(), 'hello')
  assert.equal(answer.headers['x-two'], 'a, b')
  assert.equal((await ask('/failed')).status, 503)
})

test('who is content with the head waits for the rest no longer than it said', async () => {
  const answer = await ask('/drip', { method: 'POST', bodyMs: 100 })
  assert.equal(answer.status, 200)
  assert.match(answer.body.toString(), /^x+$/)
})

test('a request carries only what is expected', async () => {
  await ask('/ok')
  assert.deepEqual(seen.at(-1)?.headers, {
    host: base.slice('http://'.length),
    connection: 'keep-alive',
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'Posthorn/1',
  })
  const headers = { Host: 'inside.example', 'Content-Length': '3', 'User-Agent': 'Mine', 'X-A': '1' }
  await ask('/ok', { method: 'POST', body: 'hello', headers })
  const posted = seen.at(-1)
  assert.equal(posted?.body, 'hello')
  assert.equal(posted?.headers.host, base.slice('http://'.length))
  assert.equal(posted?.headers['content-length'], '5')
  assert.equal(posted?.headers['user-agent'], 'Mine')
  assert.equal(posted?.headers['x-a'], '1')
})

test('headers that are the same for many requests go with each of them', async () => {
  const usual = { 'User-Agent': 'Mine', Host: 'inside.example', 'X-Usual': 'u' }
  for (const own of ['1', '2']) {
    await ask('/ok', { method: 'POST', body: '{}', usual, headers: { 'X-Own': own } })
    const sent = seen.at(-1)?.headers
    assert.deepEqual(sent, {
      host: base.slice('http://'.length),
      connection: 'keep-alive',
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'Mine',
      'x-usual': 'u',
      'x-own': own,
      'content-length': '2',
    })
  }
  await assert.rejects(ask('/ok', { usual: { 'x-a': 'a\nb' } }), { message: 'the header x-a cannot be sent' })
})

test('a line break in a header is a mistake of ours', async () => {
  await assert.rejects(ask('/ok', { headers: { 'x-a': 'a\r\nx-b: c' } }), {
    name: 'TypeError',
    message: 'the header x-a cannot be sent',
  })
})

test('no redirect is followed: a fault for GET, a status for POST', async () => {
  const fault = await faultOf(ask('/moved'))
  assert.deepEqual([fault.code, fault.status, fault.reached], ['redirect', 302, true])
  const posted = await ask('/moved', { method: 'POST', body: '{}' })
  assert.equal(posted.status, 302)
  assert.equal(posted.body.toString(), 'elsewhere')
})

test('a body that is declared too large is refused before it comes', async () => {
  const fault = await faultOf(ask('/declared'))
  assert.deepEqual([fault.code, fault.status], ['too_large', 200])
})

test('a body without end is cut at the limit', async () => {
  const fault = await faultOf(ask('/endless', { maxBytes: 300_000 }))
  assert.equal(fault.code, 'too_large')
})

test('a compressed body stays compressed', async () => {
  const answer = await ask('/packed', { maxBytes: 10_000 })
  assert.equal(answer.headers['content-encoding'], 'gzip')
  assert.ok(answer.body.length < 10_000)
})

test('the deadline holds for the whole exchange, however busy the other side looks', async () => {
  for (const path of ['/drip', '/silent']) {
    const started = performance.now()
    const fault = await faultOf(ask(path, { timeoutMs: 300 }))
    assert.deepEqual([fault.code, fault.reached], ['timeout', true], path)
    assert.ok(performance.now() - started < 3000, path)
  }
})

test('the deadline holds while a name is being resolved', async () => {
  const slow = openGuardedClient({ allowPrivate: true, resolve: () => new Promise(() => {}) })
  const fault = await faultOf(slow.request({ url: 'http://slow.example/', maxBytes: 1, timeoutMs: 100 }))
  assert.deepEqual([fault.code, fault.reached], ['timeout', false])
  await slow.close()
})

test('a fault says whether the request may have arrived', async () => {
  const broken = await faultOf(ask('/broken', { method: 'POST', body: 'x' }))
  assert.deepEqual([broken.code, broken.reached], ['unreachable', true])
  const gone = createTcpServer()
  await new Promise<void>((done) => gone.listen(0, '127.0.0.1', done))
  const { port } = gone.address() as AddressInfo
  await new Promise((done) => gone.close(done))
  const refused = await faultOf(ask('', { url: `http://127.0.0.1:${port}/` }))
  assert.deepEqual([refused.code, refused.reached], ['unreachable', false])
  assert.match(refused.message, /ECONNREFUSED/)
})

test('what does not speak HTTP is unreachable', async () => {
  const odd = createTcpServer((socket) => socket.end('220 mail.example ESMTP\r\n'))
  await new Promise<void>((done) => odd.listen(0, '127.0.0.1', done))
  const fault = await faultOf(ask('', { url: `http://127.0.0.1:${(odd.address() as AddressInfo).port}/` }))
  assert.equal(fault.code, 'unreachable')
  odd.close()
})

test('a certificate that nobody vouches for is not accepted', async () => {
  const pair = await generate([{ name: 'commonName', value: 'localhost' }], { algorithm: 'sha256' })
  const tls = createTlsServer({ key: pair.private, cert: pair.cert }, (_, reply) => reply.end('hello'))
  await new Promise<void>((done) => tls.listen(0, '127.0.0.1', done))
  const fault = await faultOf(ask('', { url: `https://localhost:${(tls.address() as AddressInfo).port}/` }))
  assert.deepEqual([fault.code, fault.reached], ['unreachable', false])
  assert.match(fault.message, /CERT|SELF_SIGNED/)
  tls.close()
})

test('many requests at once keep their answers apart', async () => {
  const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => ask(i % 2 ? '/ok' : '/failed')))
  assert.deepEqual(
    answers.map(({ status }) => status),
    answers.map((_, i) => (i % 2 ? 200 : 503)),
  )
})

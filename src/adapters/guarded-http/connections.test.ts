import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { generate } from 'selfsigned'
import { until } from '../../../test/until.ts'
import { type GuardedClient, type GuardedFault, openGuardedClient } from './guarded-http.ts'

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const opened: { server: Server; sockets: Set<Socket> }[] = []
const clients: GuardedClient[] = []

after(async () => {
  for (const client of clients) await client.close()
  for (const { server, sockets } of opened) {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
})

type Asked = (socket: Socket, number: number, text: string) => void

/** A server that speaks as it is told, and counts who comes. */
async function open(onRequest: Asked, connections: number | null = 2) {
  const sockets = new Set<Socket>()
  const counted = { connections: 0, requests: 0, most: 0 }
  const server = createServer((socket) => {
    counted.connections++
    sockets.add(socket)
    counted.most = Math.max(counted.most, sockets.size)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    socket.on('data', (data) => onRequest(socket, ++counted.requests, data.toString()))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  opened.push({ server, sockets })
  const client = openGuardedClient({ allowPrivate: true, connections })
  clients.push(client)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const post = (body: string | Buffer = 'x', timeoutMs = 5000) =>
    client.request({ url, method: 'POST', body, maxBytes: 1000, timeoutMs })
  return { counted, client, post, sockets, url }
}

test('requests that follow each other share a connection', async () => {
  const { counted, post } = await open((socket) => socket.write(ok))
  for (let n = 0; n < 20; n++) assert.equal((await post()).body.toString(), 'ok')
  assert.deepEqual(counted, { connections: 1, requests: 20, most: 1 })
})

test('there are no more connections than allowed, and every request has its turn', async () => {
  const { counted, post } = await open((socket) => setTimeout(() => socket.write(ok), 2))
  const answers = await Promise.all(Array.from({ length: 50 }, () => post()))
  assert.ok(answers.every(({ status }) => status === 200))
  assert.deepEqual(counted, { connections: 2, requests: 50, most: 2 })
})

test('a connection that ends with its answer is not used again', async () => {
  const closing = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok'
  const { counted, post } = await open((socket) => socket.end(closing))
  await Promise.all(Array.from({ length: 10 }, () => post()))
  assert.equal(counted.connections, 10)
})

test('a server that ends its answer and reads no further does not keep its place', async () => {
  const { counted, post } = await open((socket) => {
    socket.pause()
    if (socket.writable) socket.end('HTTP/1.1 200 OK\r\n\r\nok')
  }, 1)
  // More than the operating systems between us would take.
  const large = Buffer.alloc(32 * 1024 * 1024)
  for (let n = 0; n < 2; n++) assert.equal((await post(large)).body.toString(), 'ok')
  assert.equal(counted.connections, 2)
})

test('a connection that the other side closed is not used again', async () => {
  const { counted, post, sockets } = await open((socket) => socket.write(ok))
  await post()
  for (const socket of sockets) socket.end()
  await until(async () => sockets.size === 0, 'the end of the connection')
  assert.equal((await post()).status, 200)
  assert.equal(counted.connections, 2)
})

// Answers the first request of each connection, and closes it when the second comes.
const oneEach = (socket: Socket) => {
  if (socket.bytesWritten === 0) socket.write(ok)
  else socket.destroy()
}

test('what met the end of a kept connection is sent again on a new one, where that does no harm', async () => {
  const { counted, client, url } = await open(oneEach)
  const wanted = {
    url,
    method: 'POST',
    body: 'x',
    maxBytes: 1000,
    timeoutMs: 5000,
    repeatable: true,
  } as const
  for (let n = 0; n < 3; n++) assert.equal((await client.request(wanted)).status, 200)
  assert.deepEqual([counted.connections, counted.requests], [3, 5])
})

test('anything else is not, and nothing is sent a third time', async () => {
  const { counted, post } = await open(oneEach)
  await post()
  await assert.rejects(post(), { code: 'unreachable', reached: true })
  assert.equal(counted.requests, 2)
  const dead = await open((socket, number) => (number === 1 ? socket.write(ok) : socket.destroy()))
  const wanted = { url: dead.url, maxBytes: 1000, timeoutMs: 5000 }
  await dead.client.request(wanted)
  await assert.rejects(dead.client.request(wanted), { code: 'unreachable' })
  assert.equal(dead.counted.requests, 3)
})

test('a connection that is about to be closed is not used again', async () => {
  const brief = ok.replace('content', 'keep-alive: timeout=1\r\ncontent')
  const { counted, post } = await open((socket) => socket.write(brief))
  for (let n = 0; n < 3; n++) await post()
  assert.equal(counted.connections, 3)
})

test('what is said without a request ends the connection and answers nothing', async () => {
  const { counted, post, sockets } = await open((socket, n) => socket.write(n === 1 ? ok + ok : ok))
  assert.equal((await post()).status, 200)
  await until(async () => sockets.size === 0, 'the end of the connection')
  const late = ok.replace('200 OK', '500 Late')
  const second = await open((socket, n) => {
    socket.write(ok)
    if (n === 1) setTimeout(() => socket.write(late), 20)
  })
  await second.post()
  await until(async () => second.sockets.size === 0, 'the end of the connection')
  assert.equal((await second.post()).status, 200)
  assert.deepEqual([counted.connections, second.counted.connections], [1, 2])
})

test('a request that takes too long gives its place to one that waits', async () => {
  const { post, sockets } = await open((socket, _, text) => text.endsWith('good') && socket.write(ok), 1)
  const stuck = post('bad', 200)
  const next = post('good')
  await assert.rejects(stuck, { code: 'timeout', reached: true })
  assert.equal((await next).status, 200)
  assert.equal(sockets.size, 1)
})

test('one that waited too long is never sent', async () => {
  const { counted, post } = await open((socket) => setTimeout(() => socket.write(ok), 150), 1)
  const first = post()
  await assert.rejects(post('late', 50), { code: 'timeout', reached: false })
  await first
  await sleep(50)
  assert.equal(counted.requests, 1)
})

test('a fault of one connection is a fault of its request alone', async () => {
  const { post } = await open((socket, n) => (n % 2 ? socket.destroy() : socket.write(ok)), 1)
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => post()))
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    outcomes.map((_, i) => (i % 2 ? 'fulfilled' : 'rejected')),
  )
})

test('closing ends what is under way and what waits', async () => {
  const { post, client, sockets } = await open(() => {}, 1)
  const both = [post(), post()].map((one) => assert.rejects(one, { code: 'unreachable' }))
  await until(async () => sockets.size === 1, 'the first connection')
  await client.close()
  await Promise.all(both)
  await until(async () => sockets.size === 0, 'the end of the connection')
  await assert.rejects(post(), { code: 'unreachable', reached: false })
})

test('a body arrives as it is, in any script and of any size', async () => {
  let got = ''
  let wanted = 0
  const { post } = await open((socket, _, text) => {
    got += text
    if (Buffer.byteLength(got) - got.indexOf('\r\n\r\n') - 4 >= wanted) socket.write(ok)
  })
  for (const body of ['plain', 'añb→☃', 'ä'.repeat(10), 'x'.repeat(500_000), Buffer.from('☃'), '']) {
    got = ''
    wanted = Buffer.byteLength(body)
    await post(body)
    const [head, sent] = got.split('\r\n\r\n')
    assert.equal(sent, body.toString())
    assert.ok(head?.includes(`content-length: ${wanted}`))
  }
})

test('a certificate is held against the name that was asked for', async () => {
  const names = { name: 'subjectAltName', altNames: [{ type: 2 as const, value: 'localhost' }] }
  const pair = await generate([{ name: 'commonName', value: 'localhost' }], { extensions: [names as never] })
  const server = createTlsServer({ key: pair.private, cert: pair.cert }, (_, reply) => reply.end('hello'))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const program = `
    import { openGuardedClient } from '${new URL('./guarded-http.ts', import.meta.url)}'
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    const client = openGuardedClient({ allowPrivate: true, resolve })
    for (const host of ['localhost', 'other.example']) {
      const asked = { url: 'https://' + host + ':${port}/', maxBytes: 100, timeoutMs: 5000 }
      await client.request(asked).then(({ body }) => console.log(String(body)), ({ message }) => console.log(message))
    }
    await client.close()`
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-certificate-'))
  await writeFile(join(folder, 'ca.pem'), pair.cert)
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') }
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    env,
  }).finally(() => rm(folder, { recursive: true }))
  server.close()
  assert.match(stdout, /^hello\n.*ERR_TLS_CERT_ALTNAME_INVALID\n$/)
})

test('an answer that is no good HTTP otherwise is known by its status, where it has a status line', async () => {
  const heads: [string, number | null][] = [
    ['HTTP/1.1 200 OK\nContent-Length: 0\n\n', 200],
    ['HTTP/1.1 200 OK\r\nX-A: a\r\n folded\r\nContent-Length: 0\r\n\r\n', 200],
    ['HTTP/1.1 503 Not now\r\nServer : x\r\nContent-Length: 0\r\n\r\n', 503],
    ['HTTP/2 200\r\nContent-Length: 0\r\n\r\n', null],
    ['200 OK\n\n', null],
  ]
  for (const [head, status] of heads) {
    const { post } = await open((socket) => socket.end(head))
    await assert.rejects(post(), (fault: GuardedFault) => fault.status === status && fault.reached, head)
  }
})

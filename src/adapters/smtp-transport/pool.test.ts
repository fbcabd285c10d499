import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Outcome } from '../../kernel/ports.ts'
import { type Habits, type Peer, serve } from './fixtures/scripted-server.ts'
import { assertLike, handover, kinds, numbered, openFor } from './fixtures/sending.ts'
import { openSmtpTransport } from './smtp-transport.ts'

const offers = ['PIPELINING']
const many = (count: number) => Array.from({ length: count }, (_, number) => numbered(number))

test('500 messages over 5 connections arrive once each', async (t) => {
  for (const offered of [[], offers]) {
    const server = await serve(t, { offers: offered })
    const transport = openFor(t, { url: `${server.url}?connections=5&messages=40` })
    const outcomes = await Promise.all(many(500).map(transport.send))
    assert.deepEqual(new Set(kinds(outcomes)), new Set(['accepted']))
    assert.equal(server.received.length, 500)
    assert.equal(new Set(server.received.map(({ to }) => to)).size, 500)
    assert.ok(server.received.every(({ to, text }) => text.includes(`Subject: ${/\d+/.exec(to)?.[0]}\r\n`)))
    assert.equal(server.most, 5)
  }
})

test('500 messages arrive at most once when connections break at every turn', async (t) => {
  let turn = 0
  const mayCut = ({ socket }: Peer) => {
    turn += 1
    if (turn % 37 !== 0) return undefined
    socket.destroy()
    return ''
  }
  const onText: Habits['onText'] = (_, peer) => mayCut(peer)
  const server = await serve(t, { offers, on: (_, peer) => mayCut(peer), onText })
  const transport = openFor(t, { url: `${server.url}?connections=5` })
  const outcomes = await Promise.all(many(500).map(transport.send))
  const arrived = new Set(server.received.map(({ to }) => to))
  assert.equal(arrived.size, server.received.length)
  outcomes.forEach(({ kind }, number) => {
    assert.notEqual(kind, 'rejected')
    assert.equal(arrived.has(`to-${number}@example.org`), kind === 'accepted', `${number} ${kind}`)
  })
})

test('a connection carries so many messages and no more', async (t) => {
  const server = await serve(t, { offers })
  const transport = openFor(t, { url: `${server.url}?connections=2&messages=7` })
  await Promise.all(many(70).map(transport.send))
  assert.equal(server.received.length, 70)
  assert.ok(server.peers.every(({ messages }) => messages <= 7))
  await server.when(() => server.peers.every(({ messages, socket }) => messages < 7 || socket.destroyed))
  assert.ok(
    server.peers.filter(({ messages }) => messages === 7).every(({ commands }) => commands.includes('QUIT')),
  )
  assert.equal(server.most, 2)
})

test('a connection keeps its place until it is really gone', async (t) => {
  const server = await serve(t, { on: (command) => (command === 'QUIT' ? '' : undefined) })
  const url = `${server.url}?connections=1&messages=1`
  const transport = openFor(t, { url, timeouts: { replyMs: 100 } })
  for (const message of many(3)) {
    assert.equal((await transport.send(message)).kind, 'accepted')
    await server.when(() => server.peers.at(-1)?.commands.at(-1) === 'QUIT')
  }
  assert.equal(server.peers.length, 3)
  assert.equal(server.most, 1)
})

test('a server that looks through a message for longer than for anything else is waited for', async (t) => {
  const scanned: (() => void)[] = []
  const server = await serve(t, {
    onText: (_received, { socket }) => {
      scanned.push(() => socket.write('250 2.0.0 Ok\r\n'))
      return ''
    },
  })
  const sending = openFor(t, { ...server, timeouts: { replyMs: 300 } }).send(handover())
  await server.when(() => scanned.length === 1)
  const later = setTimeout(() => scanned[0]?.(), 900)
  t.after(() => clearTimeout(later))
  assert.equal((await sending).kind, 'accepted')
})

test('a connection is used again for the next message', async (t) => {
  const server = await serve(t)
  const transport = openFor(t, server)
  for (const message of many(5)) await transport.send(message)
  assert.equal(server.peers.length, 1)
  assert.equal(transport.concurrency, 20)
})

test('an idle connection is ended politely after a while', async (t) => {
  const server = await serve(t)
  const transport = openFor(t, { ...server, timeouts: { idleMs: 30 } })
  await transport.send(numbered(0))
  // The timer of an idle connection alone would let this process end.
  const awake = setInterval(() => {}, 1000)
  await server.when(() => server.peers[0]?.socket.destroyed ?? false)
  clearInterval(awake)
  assert.equal(server.peers[0]?.commands.at(-1), 'QUIT')
  assert.equal((await transport.send(numbered(1))).kind, 'accepted')
})

test('a transport at rest does not keep the process alive', async (t) => {
  const server = await serve(t, { offers })
  const script = fileURLToPath(new URL('fixtures/send-and-leave.ts', import.meta.url))
  const args = ['--import', 'tsx', script, server.url]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 })
  assert.equal(stdout, 'accepted')
})

test('a server with fewer places than ours gets as many connections as it takes', async (t) => {
  const open = new Set<Peer>()
  const on: Habits['on'] = (command, peer) => {
    if (!command.startsWith('EHLO')) return undefined
    if (open.size >= 2) return '421 4.7.0 too many connections'
    open.add(peer)
    peer.socket.on('close', () => open.delete(peer))
    return undefined
  }
  const server = await serve(t, { on })
  const transport = openFor(t, { url: `${server.url}?connections=10&messages=5` })
  const outcomes = await Promise.all(many(100).map(transport.send))
  assert.deepEqual(new Set(kinds(outcomes)), new Set(['accepted']))
})

test('a server out of order is not pestered, and messages are told when to come again', async (t) => {
  let isUp = false
  const on: Habits['on'] = (command) =>
    command.startsWith('EHLO') && !isUp ? '451 4.3.0 not now' : undefined
  const server = await serve(t, { on })
  const transport = openFor(t, server)
  const outcomes: Outcome[] = []
  for (let count = 0; count < 40; count++) outcomes.push(await transport.send(handover()))
  assert.deepEqual(new Set(kinds(outcomes)), new Set(['deferred']))
  assert.ok(server.peers.length <= 8, `${server.peers.length} connections`)
  const last = outcomes.at(-1)
  assert.ok(last?.kind === 'deferred' && last.fault === 'transport' && (last.retryAfterMs ?? 0) > 1000)
  isUp = true
  let outcome = await transport.send(handover())
  // Each refusal names the time after which it is worth asking again.
  while (outcome.kind === 'deferred') {
    const { retryAfterMs = 0 } = outcome
    await new Promise((resolve) => setTimeout(resolve, retryAfterMs))
    outcome = await transport.send(handover())
  }
  assert.equal(outcome.kind, 'accepted')
})

test('a wait that ends between two looks at the clock leaves no message behind', async (t) => {
  const server = await serve(t, { on: (command) => (command.startsWith('EHLO') ? '451 not now' : undefined) })
  const transport = openFor(t, server)
  // A clock that moves only when it is looked at: timers always ring too early for it.
  let now = 0
  t.mock.method(performance, 'now', () => {
    now += 47
    return now
  })
  for (let count = 0; count < 20; count++) assert.equal((await transport.send(handover())).kind, 'deferred')
})

test('closing finishes what is on its way and defers the rest', async (t) => {
  const server = await serve(t, { offers })
  const transport = openSmtpTransport({ url: `${server.url}?connections=3` })
  const sending = Promise.all(many(200).map(transport.send))
  await server.when(() => server.received.length > 0)
  await Promise.all([transport.close(), transport.close()])
  const outcomes = await sending
  const accepted = outcomes.filter(({ kind }) => kind === 'accepted')
  assert.equal(accepted.length, server.received.length)
  assert.ok(outcomes.every(({ kind }) => kind === 'accepted' || kind === 'deferred'))
  assert.ok(accepted.length < 200)
  await server.when(() => server.peers.every(({ socket }) => socket.destroyed))
  assert.ok(server.peers.every(({ commands }) => commands.at(-1) === 'QUIT'))
  assertLike(await transport.send(handover()), {
    kind: 'deferred',
    fault: 'transport',
    message: 'the sender is shutting down',
  })
})

test('closing does not wait for a server that never answers', async (t) => {
  const server = await serve(t, { onText: () => '' })
  const transport = openSmtpTransport(server)
  const sending = transport.send(handover())
  await server.when(() => server.peers[0]?.commands.includes('DATA') ?? false)
  const startedAt = performance.now()
  await transport.close()
  assert.equal((await sending).kind, 'uncertain')
  assert.ok(performance.now() - startedAt < 8000)
})

test('closing gives up connections that are still being made', async (t) => {
  for (const scheme of ['smtp', 'smtps']) {
    const server = await serve(t, { greeting: '' })
    const transport = openSmtpTransport({ url: `${scheme}://127.0.0.1:${server.port}` })
    const sending = transport.send(handover())
    await server.when(() => server.peers.length > 0)
    const startedAt = performance.now()
    await transport.close()
    assert.ok(performance.now() - startedAt < 4000)
    assertLike(await sending, { kind: 'deferred', message: 'the sender is shutting down' })
    await server.when(() => server.peers[0]?.socket.destroyed ?? false)
  }
})

test('what a slow server has only the envelope of comes back when it is told to let go', async (t) => {
  let isBusy = false
  const slowly: Habits['onText'] = (_, { socket }) => {
    isBusy = true
    setTimeout(() => socket.write('250 taken\r\n250 ok\r\n250 ok\r\n354 go on\r\n'), 1_500)
    return ''
  }
  const server = await serve(t, { offers, onText: slowly, on: () => (isBusy ? '' : undefined) })
  const transport = openSmtpTransport({ url: `${server.url}?connections=1` })
  const sending = Promise.all(many(4).map(transport.send))
  await server.when(() => server.peers[0]?.commands.filter((command) => command === 'DATA').length === 2)
  transport.letGo?.()
  assert.deepEqual(kinds(await sending), ['accepted', 'deferred', 'deferred', 'deferred'])
  await transport.close()
})

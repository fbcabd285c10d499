import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import type { Outcome } from '../../kernel/ports.ts'
import { type Habits, serve } from './fixtures/scripted-server.ts'
import { assertLike, handover, kinds, numbered, ofSize, openFor } from './fixtures/sending.ts'

const offers = ['PIPELINING']
const both: string[][] = [[], offers]
const messageOf = (outcome: Outcome) => (outcome.kind === 'accepted' ? '' : outcome.message)

/** Cuts the connection of the first so many peers at the command. */
const cutsAt = (verb: string, peers: number): Habits['on'] => {
  return (command, { number, socket }) => {
    if (!command.startsWith(verb) || number >= peers) return undefined
    socket.destroy()
    return ''
  }
}

test('replies to each command come to what they mean', async (t) => {
  const transport = { kind: 'deferred', fault: 'transport' }
  const cases: [string, string, object][] = [
    ['MAIL', '451 4.3.0 later', { kind: 'deferred', fault: 'message', smtpCode: 451, enhancedCode: '4.3.0' }],
    ['MAIL', '550 5.7.1 no', { kind: 'rejected', smtpCode: 550, enhancedCode: '5.7.1', message: 'no' }],
    ['MAIL', '550 5.1.1 who', { kind: 'rejected', stage: 'mail' }],
    ['MAIL', '452 4.3.1 full', { kind: 'deferred', stage: 'mail' }],
    ['MAIL', '530 5.7.0 log in first', { ...transport, smtpCode: 530 }],
    ['RCPT', '452 full', { kind: 'deferred', fault: 'message', smtpCode: 452, enhancedCode: null }],
    [
      'RCPT',
      '550-5.1.1 one\r\n550 5.1.1 two',
      { kind: 'rejected', enhancedCode: '5.1.1', message: 'one two' },
    ],
    ['RCPT', '251 will forward', { kind: 'accepted' }],
    ['DATA', '554 5.5.0 no', { kind: 'rejected', smtpCode: 554, enhancedCode: '5.5.0' }],
    ['DATA', '454 4.7.0 too fast', { ...transport, smtpCode: 454 }],
  ]
  for (const offered of both) {
    for (const [verb, says, expected] of cases) {
      const on: Habits['on'] = (command) => (command.startsWith(verb) ? says : undefined)
      const server = await serve(t, { offers: offered, on })
      assertLike(await openFor(t, server).send(handover()), expected, `${verb} ${says}`)
    }
  }
})

test('replies to the end of data come to what they mean', async (t) => {
  const cases: [string, object][] = [
    [
      '250 Ok 0102018f-0000-4000-8000-1234567890ab-000000',
      { upstreamId: '0102018f-0000-4000-8000-1234567890ab-000000' },
    ],
    ['250 OK id=1abcde-0001-XY', { kind: 'accepted', upstreamId: '1abcde-0001-XY' }],
    ['250', { kind: 'accepted', upstreamId: null, response: '250' }],
    ['250-2.0.0 one\r\n250 2.0.0 two', { kind: 'accepted', response: '250 2.0.0 one 2.0.0 two' }],
    ['451 4.7.1 greylisted', { kind: 'deferred', fault: 'message', smtpCode: 451, message: 'greylisted' }],
    ['554 5.7.1 spam', { kind: 'rejected', smtpCode: 554, enhancedCode: '5.7.1', message: 'spam' }],
    ['421 4.3.2 going down', { kind: 'deferred', fault: 'transport', smtpCode: 421, enhancedCode: '4.3.2' }],
    ['354 what', { kind: 'uncertain', smtpCode: null }],
  ]
  for (const [says, expected] of cases) {
    const server = await serve(t, { offers, onText: () => says })
    assertLike(await openFor(t, server).send(handover()), expected, says)
  }
})

test('a connection cut before the final dot is made good on another one', async (t) => {
  for (const offered of both) {
    for (const verb of ['MAIL', 'RCPT', 'DATA']) {
      const server = await serve(t, { offers: offered, on: cutsAt(verb, 1) })
      assert.equal((await openFor(t, server).send(handover())).kind, 'accepted', verb)
      assert.equal(server.peers.length, 2)
      assert.equal(server.received.length, 1)
    }
  }
})

test('cut twice before the final dot, a message is deferred', async (t) => {
  const server = await serve(t, { offers, on: cutsAt('RCPT', 9) })
  const outcome = await openFor(t, server).send(handover())
  assertLike(outcome, { kind: 'deferred', fault: 'transport', smtpCode: null })
  assert.match(messageOf(outcome), /^127\.0\.0\.1:\d+ closed the connection$|ECONNRESET/)
  assert.equal(server.peers.length, 2)
})

test('cut after the final dot, it is uncertain what became of a message', async (t) => {
  const onText: Habits['onText'] = (_, { socket }) => {
    socket.destroy()
    return ''
  }
  for (const offered of both) {
    const server = await serve(t, { offers: offered, onText })
    assert.equal((await openFor(t, server).send(handover())).kind, 'uncertain')
    assert.equal(server.peers.length, 1)
  }
})

test('of two messages on a connection that breaks, only the complete one is uncertain', async (t) => {
  const onText: Habits['onText'] = (_, { socket, number }) => {
    if (number > 0) return undefined
    socket.destroy()
    return ''
  }
  const server = await serve(t, { offers, onText })
  const transport = openFor(t, { url: `${server.url}?connections=1` })
  const outcomes = await Promise.all([numbered(0), numbered(1)].map(transport.send))
  assert.deepEqual(kinds(outcomes), ['uncertain', 'accepted'])
  assert.deepEqual(
    server.received.map(({ to }) => to),
    ['to-1@example.org'],
  )
})

test('a large message cut in its middle is known not to have arrived', async (t) => {
  let bytes = 0
  const onBytes: Habits['onBytes'] = (chunk, { number, socket }) => {
    bytes += chunk.length
    if (number === 0 && bytes > 100_000) socket.destroy()
  }
  const server = await serve(t, { offers, onBytes })
  assert.equal((await openFor(t, server).send(ofSize(20_000_000))).kind, 'accepted')
  assert.equal(server.peers.length, 2)
})

test('a refusal in the middle of a large message counts, and the connection is given up', async (t) => {
  let bytes = 0
  const onBytes: Habits['onBytes'] = (chunk, { number, socket }) => {
    bytes += chunk.length
    if (number > 0 || bytes < 100_000 || !socket.readableFlowing) return
    socket.write('552 5.3.4 too big\r\n')
    socket.pause()
  }
  const server = await serve(t, { offers, onBytes })
  const transport = openFor(t, server)
  const outcome = await transport.send(ofSize(20_000_000))
  assertLike(outcome, { kind: 'rejected', smtpCode: 552, enhancedCode: '5.3.4' })
  assert.equal((await transport.send(numbered(1))).kind, 'accepted')
  assert.equal(server.peers.length, 2)
})

test('a server that says 421 loses the connection, not the message', async (t) => {
  for (const verb of ['MAIL', 'RCPT', 'DATA']) {
    const on: Habits['on'] = (command, { number }) =>
      command.startsWith(verb) && number === 0 ? '421 4.4.2 idle for too long' : undefined
    const server = await serve(t, { offers, on })
    assert.equal((await openFor(t, server).send(handover())).kind, 'accepted')
    assert.equal(server.peers.length, 2)
  }
})

test('a server that says nothing but 421 defers the message', async (t) => {
  const server = await serve(t, {
    on: (command) => (command.startsWith('MAIL') ? '421 4.3.2 busy' : undefined),
  })
  assert.deepEqual(await openFor(t, server).send(handover()), {
    kind: 'deferred',
    fault: 'transport',
    smtpCode: 421,
    enhancedCode: '4.3.2',
    message: 'busy',
  })
})

test('a connection on which the server said 421 carries nothing more', async (t) => {
  const server = await serve(t, { onText: (_, { number }) => (number === 0 ? '421 4.3.2 bye' : undefined) })
  const transport = openFor(t, { url: `${server.url}?connections=1` })
  const outcomes = await Promise.all([numbered(0), numbered(1)].map(transport.send))
  assert.deepEqual(kinds(outcomes), ['deferred', 'accepted'])
  assert.equal(server.peers.length, 2)
})

test('an idle connection that the server ends with 421 is not used again', async (t) => {
  const server = await serve(t, { offers })
  const transport = openFor(t, server)
  await transport.send(numbered(0))
  server.peers[0]?.socket.end('421 4.4.2 idle\r\n')
  await server.when(() => server.peers[0]?.socket.destroyed ?? false)
  assert.equal((await transport.send(numbered(1))).kind, 'accepted')
  assert.equal(server.peers.length, 2)
})

test('no answer in time: deferred before the final dot, uncertain after it', async (t) => {
  const timeouts = { connectMs: 2000, replyMs: 60, finalMs: 120 }
  for (const verb of ['EHLO', 'MAIL', 'RCPT', 'DATA']) {
    let isSilent = false
    const on: Habits['on'] = (command) => {
      isSilent ||= command.startsWith(verb)
      return isSilent ? '' : undefined
    }
    const server = await serve(t, { offers, on })
    const outcome = await openFor(t, { ...server, timeouts }).send(handover())
    assertLike(outcome, { kind: 'deferred', fault: 'transport', smtpCode: null }, verb)
    assert.match(messageOf(outcome), /^127\.0\.0\.1:\d+ did not answer within 60 ms$/)
    assert.equal(server.peers.length, 1)
  }
  const server = await serve(t, { offers, onText: () => '' })
  const outcome = await openFor(t, { ...server, timeouts }).send(handover())
  assert.equal(outcome.kind, 'uncertain')
  assert.match(messageOf(outcome), /did not answer within 120 ms/)
})

test('a server without greeting is told from one that expects TLS', async (t) => {
  const server = await serve(t, { greeting: '' })
  const outcome = await openFor(t, { ...server, timeouts: { replyMs: 60 } }).send(handover())
  assert.match(
    messageOf(outcome),
    /did not answer within 60 ms \(a port that expects TLS at once needs smtps/,
  )
})

test('a greeting that refuses is not held against the message', async (t) => {
  for (const greeting of ['421 4.3.2 too many connections', '554 5.7.1 you are listed']) {
    const server = await serve(t, { greeting })
    const outcome = await openFor(t, server).send(handover())
    assertLike(outcome, {
      kind: 'deferred',
      fault: 'transport',
      smtpCode: Number(greeting.slice(0, 3)),
    })
    assert.match(messageOf(outcome), /^the mail server takes no connection \(\d+\): /)
  }
})

test('a server that is not there is told in words', async (t) => {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as { port: number }
  await new Promise((resolve) => listener.close(resolve))
  for (const host of ['127.0.0.1', 'localhost']) {
    const transport = openFor(t, { url: `smtp://${host}:${port}` })
    const outcome = await transport.send(handover())
    const message = `cannot connect to ${host}:${port}: nothing listens there (ECONNREFUSED)`
    assertLike(outcome, { kind: 'deferred', fault: 'transport', message })
    await assert.rejects(transport.verify(), { message })
  }
})

test('a server that does not know EHLO is spoken to with HELO', async (t) => {
  const on: Habits['on'] = (command) => (command.startsWith('EHLO') ? '502 5.5.1 what' : undefined)
  const server = await serve(t, { on })
  assert.equal(
    (await openFor(t, { url: `${server.url}?name=posthorn.test` }).send(handover())).kind,
    'accepted',
  )
  assert.deepEqual(server.peers[0]?.commands.slice(0, 2), ['EHLO posthorn.test', 'HELO posthorn.test'])
})

test('what is not SMTP ends the connection', async (t) => {
  const cases: [string, RegExp][] = [
    ['HTTP/1.1 400 Bad Request', /it sent "HTTP\/1\.1 400 Bad Request"$/],
    ['250-one\r\n550 two', /it sent "550 two"$/],
    ['99 what', /it sent "99 what"$/],
    [`250 ${'x'.repeat(5000)}`, /it sent a line of more than 4096 characters$/],
    ['250-more\r\n'.repeat(200), /it sent more than 128 lines$/],
    ['x'.repeat(5000), /it sent a line of more than 4096 characters$/],
    ['\0\x01\x02binary', /it sent "binary"$/],
  ]
  for (const [says, expected] of cases) {
    const server = await serve(t, { on: (command) => (command.startsWith('MAIL') ? says : undefined) })
    const outcome = await openFor(t, server).send(handover())
    assertLike(outcome, { kind: 'deferred', fault: 'transport' }, says.slice(0, 20))
    assert.match(messageOf(outcome), expected)
  }
})

test('an answer that nobody waits for ends the connection', async (t) => {
  const server = await serve(t, { onText: () => '250 Ok\r\n250 Ok again' })
  const transport = openFor(t, server)
  assert.deepEqual(kinds([await transport.send(numbered(0)), await transport.send(numbered(1))]), [
    'accepted',
    'accepted',
  ])
  assert.equal(server.peers.length, 2)
})

test('what would break the protocol is a fault of the caller', async (t) => {
  const transport = openFor(t, await serve(t))
  for (const raw of ['a\nb', 'a\rb', '\n', '\r', 'a\r\n\n', 'a\r\r\n', 'a\r\n.\n', 'a\r\n.\r'])
    await assert.rejects(transport.send(handover({ raw: Buffer.from(raw) })), /bare CR or LF/)
  for (const address of ['a b@c', 'a@b>', '<a@b', 'a@b\r\nRSET', 'a@b\0', 'é@b', 'a@b\x7f']) {
    await assert.rejects(transport.send(handover({ recipient: address })), /characters that SMTP forbids/)
    await assert.rejects(transport.send(handover({ envelopeFrom: address })), /characters that SMTP forbids/)
  }
  await assert.rejects(transport.send(handover({ recipient: '' })), /characters that SMTP forbids/)
  assert.equal((await transport.send(handover({ envelopeFrom: '' }))).kind, 'accepted')
})

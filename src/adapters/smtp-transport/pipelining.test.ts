import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { serve } from './fixtures/scripted-server.ts'
import { handover, kinds, numbered, ofSize, openFor } from './fixtures/sending.ts'

const offers = ['PIPELINING', 'ENHANCEDSTATUSCODES']
const many = (count: number) => Array.from({ length: count }, (_, number) => numbered(number))

test('a message arrives as it was handed over', async (t) => {
  const server = await serve(t)
  const outcome = await openFor(t, server).send(handover())
  assert.deepEqual(outcome, {
    kind: 'accepted',
    upstreamId: 'Q0-1',
    response: '250 2.0.0 Ok: queued as Q0-1',
  })
  const text = 'Subject: hello\r\n\r\nGood morning.\r\n'
  assert.deepEqual(server.received, [{ from: 'from@example.com', to: 'to@example.org', text, peer: 0 }])
  assert.deepEqual(server.peers[0]?.commands.slice(1), [
    'MAIL FROM:<from@example.com>',
    'RCPT TO:<to@example.org>',
    'DATA',
  ])
})

test('octets above 127 are announced where the server offers to take them', async (t) => {
  const raw = Buffer.from('Subject: hello\r\n\r\nÜ\r\n')
  for (const [offered, announced] of [
    [['8BITMIME', 'SIZE'], ` SIZE=${raw.length} BODY=8BITMIME`],
    [[], ''],
  ] as const) {
    const server = await serve(t, { offers: [...offered] })
    const transport = openFor(t, { url: `${server.url}?connections=1` })
    for (const one of [handover({ raw }), handover()]) await transport.send(one)
    const [first, second] = server.peers[0]?.commands.filter((command) => command.startsWith('MAIL')) ?? []
    assert.equal(first, `MAIL FROM:<from@example.com>${announced}`)
    assert.doesNotMatch(second ?? 'BODY', /BODY/)
  }
})

test('a server that does not offer pipelining is never sent a command before its answer', async (t) => {
  const chunks: string[] = []
  const server = await serve(t, { onBytes: (bytes) => chunks.push(bytes.toString('latin1')) })
  const transport = openFor(t, { url: `${server.url}?connections=1` })
  await Promise.all(many(5).map(transport.send))
  assert.ok(chunks.every((chunk) => chunk.endsWith('\r\n.\r\n') || chunk.match(/\r\n/g)?.length === 1))
})

test('a server that offers it gets an envelope with the end of the message before it', async (t) => {
  const chunks: string[] = []
  const server = await serve(t, { offers, onBytes: (bytes) => chunks.push(bytes.toString('latin1')) })
  const transport = openFor(t, { url: `${server.url}?connections=1` })
  const outcomes = await Promise.all(many(3).map(transport.send))
  assert.deepEqual(new Set(kinds(outcomes)), new Set(['accepted']))
  assert.equal(chunks.length, 5)
  assert.match(
    chunks[2] ?? '',
    /^Subject: 0\r\n\r\n\.\.0\r\n\.\r\nMAIL FROM:<.*>\r\nRCPT TO:<to-1@.*>\r\nDATA\r\n$/,
  )
})

test('a recipient refused although DATA was taken costs an empty message, and only that recipient', async (t) => {
  const server = await serve(t, {
    offers,
    on: (command) => (command === 'RCPT TO:<to-1@example.org>' ? '550 5.1.1 no such user' : undefined),
    onText: ({ to }) => (to === '' ? '554 5.5.1 no valid recipients' : undefined),
  })
  const transport = openFor(t, { url: `${server.url}?connections=1` })
  const [first, second, third] = await Promise.all(many(3).map(transport.send))
  assert.equal(first?.kind, 'accepted')
  assert.deepEqual(second, {
    kind: 'rejected',
    smtpCode: 550,
    enhancedCode: '5.1.1',
    message: 'no such user',
  })
  assert.equal(third?.kind, 'accepted')
  assert.deepEqual(
    server.received.map(({ to, text }) => [to, text]),
    [
      ['to-0@example.org', 'Subject: 0\r\n\r\n.0\r\n'],
      ['to-2@example.org', 'Subject: 2\r\n\r\n.2\r\n'],
    ],
  )
  assert.equal(server.peers.length, 1)
})

test('a recipient and DATA both refused are followed by RSET', async (t) => {
  let refused = false
  const server = await serve(t, {
    offers,
    on: (command) => {
      if (command === 'RCPT TO:<to-0@example.org>') refused = true
      else if (command.startsWith('MAIL')) refused = false
      if (refused && command.startsWith('RCPT')) return '450 4.2.0 greylisted'
      return refused && command === 'DATA' ? '503 5.5.1 no recipients' : undefined
    },
  })
  const transport = openFor(t, { url: `${server.url}?connections=1` })
  const [first, second] = await Promise.all(many(2).map(transport.send))
  assert.deepEqual(first, {
    kind: 'deferred',
    fault: 'message',
    smtpCode: 450,
    enhancedCode: '4.2.0',
    message: 'greylisted',
  })
  assert.equal(second?.kind, 'accepted')
  assert.equal(server.peers[0]?.commands[4], 'RSET')
})

test('what the server says of one message is not taken for another', async (t) => {
  for (const pipelining of [[], offers]) {
    const server = await serve(t, {
      offers: pipelining,
      on: (command) => (/to-\d*3@/.test(command) ? '550 5.1.1 three' : undefined),
      onText: ({ to }) => (/to-\d*7@/.test(to) ? '451 4.3.0 seven' : undefined),
    })
    const transport = openFor(t, { url: `${server.url}?connections=3&messages=10` })
    const outcomes = await Promise.all(many(100).map(transport.send))
    const expected = (at: number) => (at % 10 === 3 ? 'rejected' : at % 10 === 7 ? 'deferred' : 'accepted')
    assert.deepEqual(
      kinds(outcomes),
      outcomes.map((_, at) => expected(at)),
    )
    assert.equal(new Set(server.received.filter(({ to }) => to !== '').map(({ to }) => to)).size, 80)
  }
})

test('any text arrives unchanged, dots and all', async (t) => {
  const server = await serve(t, { offers })
  const transport = openFor(t, server)
  const piece = fc.constantFrom('.', '..', '\r\n', '\r\n.', '\r\n.\r\n', 'a', 'b c', '=', 'xyz'.repeat(300))
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
      const text = pieces.join('')
      await transport.send(handover({ raw: Buffer.from(text) }))
      const expected = text === '' || text.endsWith('\r\n') ? text : `${text}\r\n`
      assert.equal(server.received.pop()?.text, expected)
    }),
    { numRuns: 300 },
  )
})

test('a large message arrives whole, and others behind it on the same connection', async (t) => {
  const server = await serve(t, { offers })
  const transport = openFor(t, { url: `${server.url}?connections=1` })
  const messages = [ofSize(2_000_000), numbered(1), ofSize(200_000), numbered(2)]
  const outcomes = await Promise.all(messages.map(transport.send))
  assert.deepEqual(new Set(kinds(outcomes)), new Set(['accepted']))
  assert.deepEqual(
    server.received.map(({ text }) => text),
    messages.map(({ raw }) => raw.toString('latin1')),
  )
})

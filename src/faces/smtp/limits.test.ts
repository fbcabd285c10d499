import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { connect as connectSecurely } from 'node:tls'
import fc from 'fast-check'
import { openAdmission, plainAddress } from './admission.ts'
import { certificate, held, openFor, plain, talkTo } from './fixtures/testing.ts'

test('connections are limited in total, and a place is free again after one leaves', async (t) => {
  const { port } = await openFor(t, { maxConnections: 2 })
  const first = await talkTo(t, port)
  const second = await talkTo(t, port)
  await Promise.all([first.reply(), second.reply()])
  const third = await talkTo(t, port)
  assert.match((await third.rest()).join(), /^421 4\.3\.2/)
  first.send('QUIT\r\n')
  await first.rest()
  first.socket.end()
  await until(async () => (await (await talkTo(t, port)).reply())?.startsWith('220') === true)
})

test('connections are limited per address', async (t) => {
  const { port } = await openFor(t, { maxConnectionsPerIp: 1 })
  await (await talkTo(t, port)).reply()
  assert.match((await (await talkTo(t, port)).rest()).join(), /^421 4\.7\.0/)
})

test('a secured connection gives its place back, and one turned away is closed', async (t) => {
  const tls = await certificate()
  const { port, securePort = 0 } = await openFor(t, { tls, securePort: 0, maxConnections: 1 })
  const secured = connectSecurely({ port: securePort, host: '127.0.0.1', rejectUnauthorized: false })
  t.after(() => secured.destroy())
  await once(secured, 'data')
  const other = connect({ port: securePort, host: '127.0.0.1' })
  other.on('error', () => undefined)
  await once(other, 'close')
  secured.end()
  await until(async () => (await (await talkTo(t, port)).reply())?.startsWith('220') === true)
})

test('a failed handshake frees its place', async (t) => {
  const tls = await certificate()
  const { port, securePort = 0 } = await openFor(t, { tls, securePort: 0, maxConnections: 1 })
  const broken = connect({ port: securePort, host: '127.0.0.1' })
  broken.on('error', () => undefined)
  broken.write('EHLO this is no handshake\r\n'.repeat(10))
  broken.resume()
  await once(broken, 'close')
  await until(async () => (await (await talkTo(t, port)).reply())?.startsWith('220') === true)
})

test('addresses are counted as IPv4 addresses and as IPv6 networks', () => {
  const admission = openAdmission(10, 1)
  assert.equal(admission.enter('2001:db8::1'), 'welcome')
  assert.equal(admission.enter('2001:db8::2'), 'crowded')
  assert.equal(admission.enter('2001:db8:0:1::2'), 'welcome')
  admission.leave('2001:db8::1')
  assert.equal(admission.enter('2001:db8::2'), 'welcome')
  assert.equal(plainAddress('::ffff:192.0.2.1'), '192.0.2.1')
  assert.equal(plainAddress('fe80::1%eth0'), 'fe80::1')
  assert.equal(plainAddress(undefined), '')
})

test('ten errors end the connection', async (t) => {
  const { port } = await openFor(t)
  const talk = await talkTo(t, port)
  talk.send('FROB\r\n'.repeat(20))
  const replies = await talk.rest()
  assert.equal(replies.filter((reply) => reply.startsWith('500')).length, 10)
  assert.match(replies.at(-1) ?? '', /^421 4\.7\.0/)
})

test('commands without a login are limited', async (t) => {
  const { port } = await openFor(t)
  const talk = await talkTo(t, port)
  talk.send('NOOP\r\n'.repeat(100))
  assert.match((await talk.rest()).at(-1) ?? '', /^421 4\.7\.0/)
})

test('a message to far too many goes to the first hundred', async (t) => {
  const { port, mails } = await openFor(t)
  const talk = await talkTo(t, port)
  await talk.login()
  for (let round = 1; round <= 5; round += 1) {
    assert.match((await talk.ask('MAIL FROM:<a@sender.test>')) ?? '', /^250 /)
    talk.send(recipients(500))
    const replies: (string | undefined)[] = []
    while (replies.length < 500) replies.push(await talk.reply())
    assert.equal(replies.filter((reply) => reply?.startsWith('250 2.1.5')).length, 100)
    assert.equal(replies.filter((reply) => reply?.startsWith('452 4.5.3')).length, 400)
    assert.match((await talk.ask('DATA')) ?? '', /^354 /)
    assert.match((await talk.ask('Subject: x\r\n\r\nx\r\n.')) ?? '', /^250 2\.0\.0/)
    assert.equal(mails.length, round)
    assert.equal(mails.at(-1)?.recipients.length, 100)
  }
})

test('naming recipients without end, and without a message, ends the connection', async (t) => {
  const { port } = await openFor(t)
  const talk = await talkTo(t, port)
  await talk.login()
  talk.send(`MAIL FROM:<a@sender.test>\r\n${recipients(1_500)}RSET\r\n`)
  talk.send(`MAIL FROM:<a@sender.test>\r\n${recipients(1_500)}`)
  assert.match((await talk.rest()).at(-1) ?? '', /^421 4\.7\.0 Too many commands/)
})

test('a line without its end is forgotten, and one that never ends closes the connection', async (t) => {
  const { port } = await openFor(t)
  const talk = await talkTo(t, port)
  await talk.reply()
  assert.match((await talk.ask(`NOOP ${'x'.repeat(2_000)}`)) ?? '', /^250 /)
  assert.match((await talk.ask(`NOOP ${'x'.repeat(3_000)}`)) ?? '', /^500 5\.5\.2/)
  assert.match((await talk.ask(`NOOP ${'x'.repeat(50_000)}`)) ?? '', /^500 5\.5\.2/)
  talk.send('x'.repeat(200_000))
  assert.match((await talk.rest()).join('\n'), /^500 5\.5\.2.*\n421/)
})

test('a bare line feed ends no command', async (t) => {
  const { port } = await openFor(t)
  const talk = await talkTo(t, port)
  await talk.reply()
  talk.send('NOOP\n')
  assert.match((await talk.reply()) ?? '', /^500 5\.5\.2 Lines must end/)
})

test('HTTP and a TLS handshake on the bare port are cut off without a word', async (t) => {
  const { port } = await openFor(t)
  for (const opening of [
    'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    'POST /a HTTP/1.0\r\n\r\nNOOP\r\n',
    '\x16\x03\x01\x02',
  ]) {
    const talk = await talkTo(t, port)
    await talk.reply()
    talk.send(opening)
    assert.deepEqual(await talk.rest(), [])
  }
})

test('a silent client is sent away', async (t) => {
  const { port } = await openFor(t, { timeouts: { idleMs: 50 } })
  const talk = await talkTo(t, port)
  assert.deepEqual(
    (await talk.rest()).map((reply) => reply.slice(0, 9)),
    ['220 relay', '421 4.4.2'],
  )
})

test('dripping octets of a command does not count as activity', async (t) => {
  const { port } = await openFor(t, { timeouts: { idleMs: 100 } })
  const talk = await talkTo(t, port)
  const drip = setInterval(() => talk.send('x'), 5)
  t.after(() => clearInterval(drip))
  assert.match((await talk.rest()).at(-1) ?? '', /^421 4\.4\.2/)
})

test('a client that only keeps itself busy is sent away', async (t) => {
  const { port } = await openFor(t, { timeouts: { totalMs: 100 } })
  const talk = await talkTo(t, port)
  await talk.login()
  const drip = setInterval(() => talk.send('NOOP\r\n'), 5)
  t.after(() => clearInterval(drip))
  await talk.closed
})

test('a client that never reads stops being read', async (t) => {
  const { port } = await openFor(t, { maxRecipients: 1_000_000, timeouts: { idleMs: 500 } })
  const talk = await talkTo(t, port)
  await talk.login()
  talk.socket.removeAllListeners('data')
  talk.socket.pause()
  const flood = 'HELP\r\n'.repeat(10_000)
  let sent = 0
  while (talk.socket.write(flood) || talk.socket.writableLength < 5_000_000) {
    sent += flood.length
    if (sent > 100_000_000) break
  }
  assert.ok(talk.socket.writableLength > 0)
  await once(talk.socket, 'error')
})

test('a decision that never comes ends the connection', async (t) => {
  const { port } = await openFor(t, { login: () => new Promise(() => undefined), timeouts: { idleMs: 100 } })
  const talk = await talkTo(t, port)
  talk.send(`EHLO c\r\nAUTH PLAIN ${plain('a', 'b')}\r\n`)
  assert.match((await talk.rest()).at(-1) ?? '', /^421 4\.4\.2/)
})

test('what arrives during a decision waits', async (t) => {
  const decision = held<{ user: string }>()
  const { port } = await openFor(t, { login: () => decision.promise })
  const talk = await talkTo(t, port)
  await talk.reply()
  await talk.ask('EHLO c')
  talk.send(`AUTH PLAIN ${plain('a', 'b')}\r\n`)
  talk.send('NOOP\r\n'.repeat(50))
  talk.send('QUIT\r\n')
  decision.release({ user: 'a' })
  const codes = (await talk.rest()).map((reply) => reply.slice(0, 3))
  assert.deepEqual(codes, ['235', ...Array(50).fill('250'), '221'])
})

const words = [
  'EHLO c\r\n',
  'AUTH PLAIN',
  'AUTH LOGIN\r\n',
  'MAIL FROM:<a@b.c>',
  'RCPT TO:<',
  'DATA\r\n',
  '.\r\n',
]
const piece = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((octets) => Buffer.from(octets)),
  fc
    .constantFrom(...words, '\r\n', '\n', '\r', '\0', `AUTH PLAIN ${plain('a', 'secret')}\r\n`)
    .map((text) => Buffer.from(text)),
  fc.constant(Buffer.alloc(5_000, 'x')),
)

test('whatever octets come, the connection ends with a reply or a close and the relay lives on', async (t) => {
  const { port } = await openFor(t)
  const property = fc.asyncProperty(
    fc.array(piece, { maxLength: 30 }),
    fc.boolean(),
    async (pieces, wait) => {
      const talk = await talkTo(t, port)
      if (wait) await talk.reply()
      for (const octets of pieces) talk.send(octets)
      talk.socket.end()
      for (const reply of await talk.rest()) assert.match(reply, /^[2345]\d\d[ -]/)
    },
  )
  await fc.assert(property, { numRuns: 200 })
  assert.match((await (await talkTo(t, port)).reply()) ?? '', /^220 /)
})

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise(setImmediate)
}

function recipients(count: number): string {
  return Array.from({ length: count }, (_, n) => `RCPT TO:<r${n}@recipient.test>\r\n`).join('')
}

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { before, type TestContext, test } from 'node:test'
import { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { type Habits, serve } from './fixtures/scripted-server.ts'
import {
  assertLike,
  type Certificate,
  certificateFor,
  handover,
  numbered,
  openFor,
} from './fixtures/sending.ts'

let certificate: Certificate
let stranger: Certificate
before(async () => {
  certificate = await certificateFor('localhost')
  stranger = await certificateFor('elsewhere.example')
})

type Mail = { text: string; secure: boolean; user: string | undefined }

async function library(t: TestContext, options: SMTPServerOptions = {}) {
  const mails: Mail[] = []
  const server = new SMTPServer({
    ...certificate,
    authOptional: true,
    onAuth: ({ method, username, password }, _, done) =>
      username === 'us%er' && password === 'p@ss:/?#é'
        ? done(null, { user: `${method} ${username}` })
        : done(new Error('no')),
    onData: (stream, { secure, user }, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        mails.push({ text: Buffer.concat(chunks).toString('latin1'), secure, user })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => {})
  const listener = server.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.after(() => server.close())
  const { port } = listener.address() as AddressInfo
  return { mails, at: `127.0.0.1:${port}`, named: `localhost:${port}` }
}

const secret = `${encodeURIComponent('us%er')}:${encodeURIComponent('p@ss:/?#é')}`
const text = handover().raw.toString('latin1')

test('plain: a message arrives and the server is found in order', async (t) => {
  const { mails, at } = await library(t, { disabledCommands: ['STARTTLS', 'AUTH'] })
  const transport = openFor(t, { url: `smtp://${at}` })
  await transport.verify()
  assert.equal((await transport.send(handover())).kind, 'accepted')
  assert.deepEqual(mails, [{ text, secure: false, user: undefined }])
})

test('STARTTLS is taken where it is offered, and the certificate checked where it is required', async (t) => {
  const { mails, at, named } = await library(t)
  assert.equal((await openFor(t, { url: `smtp://${at}` }).send(handover())).kind, 'accepted')
  const strict = openFor(t, { url: `smtp://${named}?tls=required`, ca: certificate.cert })
  await strict.verify()
  assert.equal((await strict.send(handover())).kind, 'accepted')
  assert.equal((await openFor(t, { url: `smtp://${at}?tls=off` }).send(handover())).kind, 'accepted')
  assert.deepEqual(
    mails.map(({ secure }) => secure),
    [true, true, false],
  )
})

test('many messages over TLS arrive once each', async (t) => {
  const { mails, named } = await library(t, { secure: true })
  const url = `smtps://${named}?connections=4&messages=30`
  const transport = openFor(t, { url, ca: certificate.cert })
  const messages = Array.from({ length: 200 }, (_, number) => numbered(number))
  const outcomes = await Promise.all(messages.map(transport.send))
  assert.ok(outcomes.every(({ kind }) => kind === 'accepted'))
  assert.equal(new Set(mails.map((mail) => mail.text)).size, 200)
  assert.equal(mails.length, 200)
})

test('a large message passes TLS whole', async (t) => {
  const { mails, named } = await library(t, { secure: true })
  const transport = openFor(t, { url: `smtps://${named}`, ca: certificate.cert })
  const raw = Buffer.from('.abcdefg\r\n'.repeat(50_000))
  assert.equal((await transport.send(handover({ raw }))).kind, 'accepted')
  assert.ok(mails[0]?.text === raw.toString('latin1'))
})

test('a certificate that nobody vouches for is refused, in words', async (t) => {
  const [own, foreign] = [await library(t), await library(t, { ...stranger, secure: true })]
  const unknown = openFor(t, { url: `smtp://${own.named}?tls=required` })
  const outcome = await unknown.send(handover())
  assertLike(outcome, {
    kind: 'deferred',
    fault: 'transport',
    message: `the certificate of ${own.named} is not trusted: self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)`,
  })
  const misnamed = openFor(t, { url: `smtps://${foreign.named}`, ca: stranger.cert })
  await assert.rejects(misnamed.verify(), /is not trusted: Hostname\/IP does not match.*ALTNAME_INVALID\)$/)
  assert.equal(own.mails.length + foreign.mails.length, 0)
})

test('TLS required of a server without it, or of the wrong port, is told in words', async (t) => {
  const { at, named } = await library(t, { disabledCommands: ['STARTTLS'] })
  const required = openFor(t, { url: `smtp://${at}?tls=required` })
  await assert.rejects(required.verify(), /offers no STARTTLS \(if it may go unencrypted, add "tls=off"\)$/)
  const implicit = openFor(t, { url: `smtps://${named}`, ca: certificate.cert })
  await assert.rejects(implicit.verify(), /does not speak TLS from the start: use smtp:\/\/ for this port$/)
  const silent = await serve(t, { greeting: '' })
  const waiting = openFor(t, { url: `smtps://127.0.0.1:${silent.port}`, timeouts: { connectMs: 60 } })
  await assert.rejects(waiting.verify(), /^Error: no TLS with 127\.0\.0\.1:\d+: no answer within 60 ms$/)
})

test('a server that offers STARTTLS and then speaks no TLS is told apart from the wrong port', async (t) => {
  const broken = await serve(t, {
    offers: ['STARTTLS'],
    on: (command) => (command === 'STARTTLS' ? '220 go' : undefined),
    // The first octet of TLS.
    onBytes: (bytes, { socket }) => bytes[0] === 0x16 && socket.write('not TLS at all\r\n'),
  })
  const transport = openFor(t, { url: broken.url })
  await assert.rejects(
    transport.verify(),
    /127\.0\.0\.1:\d+ offers STARTTLS, but what it sends then is not TLS$/,
  )
})

test('a login is accepted by PLAIN and by LOGIN', async (t) => {
  for (const method of ['PLAIN', 'LOGIN']) {
    const { mails, named } = await library(t, { authMethods: [method], authOptional: false })
    const transport = openFor(t, { url: `smtp://${secret}@${named}`, ca: certificate.cert })
    await transport.verify()
    assert.equal((await transport.send(handover())).kind, 'accepted')
    assert.deepEqual(mails, [{ text, secure: true, user: `${method} us%er` }])
  }
})

test('a login that fails is not held against the message', async (t) => {
  for (const method of ['PLAIN', 'LOGIN']) {
    const { named } = await library(t, { authMethods: [method] })
    const transport = openFor(t, { url: `smtp://user:wrong@${named}`, ca: certificate.cert })
    const outcome = await transport.send(handover())
    assertLike(outcome, { kind: 'deferred', fault: 'transport', smtpCode: 535 })
    const message = new RegExp(`^Error: the mail server refuses the login \\(AUTH ${method}, 535\\): `)
    await assert.rejects(transport.verify(), message)
  }
  const { named } = await library(t, { authMethods: ['XOAUTH2'] })
  const other = openFor(t, { url: `smtp://${secret}@${named}`, ca: certificate.cert })
  await assert.rejects(other.verify(), /offers no login by PLAIN or LOGIN, only by XOAUTH2$/)
  const { named: open } = await library(t, { disabledCommands: ['AUTH'] })
  await assert.rejects(openFor(t, { url: `smtp://${secret}@${open}` }).verify(), /offers no login \(AUTH\)/)
})

test('a message over the announced size is refused without asking', async (t) => {
  const { mails, at } = await library(t, { size: 1000 })
  const transport = openFor(t, { url: `smtp://${at}?connections=1` })
  const large = handover({ raw: Buffer.from('a'.repeat(1001)) })
  const [first, second] = await Promise.all([transport.send(large), transport.send(handover())])
  assert.deepEqual(first, {
    kind: 'rejected',
    smtpCode: 552,
    enhancedCode: '5.3.4',
    message: 'the message has 1001 bytes, the mail server takes at most 1000',
  })
  assert.equal(second?.kind, 'accepted')
  assert.equal(mails.length, 1)
})

test('the size of a message is announced where the server wants to know', async (t) => {
  const server = await serve(t, { offers: ['SIZE 0'] })
  await openFor(t, server).send(handover())
  assert.equal(server.peers[0]?.commands[1], `MAIL FROM:<from@example.com> SIZE=${text.length}`)
})

test('what stands in the clear behind the answer to STARTTLS is never believed', async (t) => {
  const onSecure: string[] = []
  // A second EHLO answer, slipped in before the handshake, that offers no size limit and another login.
  const injected = '220 go\r\n250-fake\r\n250 AUTH PLAIN\r\n235 2.7.0 welcome\r\n250 half a li'
  const habits: Habits = {
    offers: ['STARTTLS'],
    on: (command, { socket }) => {
      if (command !== 'STARTTLS') return undefined
      socket.write(injected)
      const secured = new TLSSocket(socket, { isServer: true, ...certificate })
      secured.on('error', () => {})
      secured.on('data', (bytes) => {
        onSecure.push(bytes.toString('latin1').trim())
        secured.write(/^EHLO/.test(onSecure.at(-1) ?? '') ? '250 real\r\n' : '221 bye\r\n')
      })
      return ''
    },
  }
  const server = await serve(t, habits)
  const url = `smtp://user:secret@localhost:${server.port}?tls=required&name=posthorn.test`
  const transport = openFor(t, { url, ca: certificate.cert })
  await assert.rejects(transport.verify(), /offers no login \(AUTH\)/)
  assert.deepEqual(onSecure, ['EHLO posthorn.test'])
})

test('a secured transport at rest does not keep the process alive', async (t) => {
  const { named } = await library(t)
  const script = fileURLToPath(new URL('fixtures/send-and-leave.ts', import.meta.url))
  const args = ['--import', 'tsx', script, `smtp://${named}?tls=required`, certificate.cert]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 })
  assert.equal(stdout, 'accepted')
})

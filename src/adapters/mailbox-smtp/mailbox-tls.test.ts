import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { MailServer } from '../../kernel/mailbox-ports.ts'
import { certificateFor } from '../smtp-transport/fixtures/sending.ts'
import { openMailboxSmtp } from './mailbox-smtp.ts'

const host = 'mail.shop.example'
const certificate = await certificateFor(host)
const guard = { allowPrivate: true, resolve: async () => [{ address: '127.0.0.1', family: 4 as const }] }
const [trusting, doubting] = [openMailboxSmtp({ guard, ca: certificate.cert }), openMailboxSmtp({ guard })]

const letter = {
  from: 'me@shop.example',
  to: 'ann@globex.example',
  raw: Buffer.from('Subject: hi\r\n\r\nHello.\r\n'),
}

async function open(t: TestContext, options: SMTPServerOptions = {}) {
  const seen = { logins: [] as string[], isSecure: [] as boolean[] }
  const server = new SMTPServer({
    ...certificate,
    onAuth: ({ username = '', method }, { secure }, done) => {
      seen.logins.push(`${method} ${username} ${secure ? 'in TLS' : 'in the clear'}`)
      done(null, { user: username })
    },
    onData: (stream, { secure }, done) => {
      stream.resume().on('end', () => {
        seen.isSecure.push(secure)
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
  const at = (given: Partial<MailServer> = {}): MailServer => ({
    host,
    port,
    secure: options.secure ?? false,
    credentials: { user: 'me', password: 'right' },
    ...given,
  })
  return { seen, at }
}

test('from the start and by STARTTLS, with a certificate that is trusted', async (t) => {
  for (const secure of [true, false]) {
    const { seen, at } = await open(t, { secure })
    assert.equal(await trusting.test(at()), undefined)
    assert.equal((await trusting.send(at(), letter)).kind, 'accepted')
    assert.deepEqual(seen.isSecure, [true])
    assert.deepEqual(new Set(seen.logins), new Set(['PLAIN me in TLS']))
  }
})

test('a certificate that nobody vouches for, or of another name, is refused in words', async (t) => {
  for (const secure of [true, false]) {
    const { seen, at } = await open(t, { secure })
    const said = await doubting.test(at())
    assert.match(String(said), /^the certificate of mail\.shop\.example:\d+ is not trusted: self-signed/)
    const misnamed = await trusting.test(at({ host: 'other.shop.example' }))
    assert.match(String(misnamed), /is not trusted: Hostname\/IP does not match/)
    // Tried again later: certificates are renewed.
    assert.equal((await doubting.send(at(), letter)).kind, 'deferred')
    assert.deepEqual(seen, { logins: [], isSecure: [] })
  }
})

test('a server without STARTTLS gets no password; nor does one that is asked the wrong way', async (t) => {
  const bare = await open(t, { hideSTARTTLS: true, allowInsecureAuth: true })
  assert.match(String(await trusting.test(bare.at())), /^mail\.shop\.example:\d+ offers no STARTTLS$/)
  assert.equal((await trusting.send(bare.at(), letter)).kind, 'deferred')
  assert.match(String(await trusting.test(bare.at({ secure: true }))), /: use secure: false for this port$/)
  assert.deepEqual(bare.seen, { logins: [], isSecure: [] })
  // On this very machine it may.
  assert.equal(await trusting.test(bare.at({ host: '127.0.0.1' })), undefined)
  assert.deepEqual(bare.seen.logins, ['PLAIN me in the clear'])
})

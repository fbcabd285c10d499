import assert from 'node:assert/strict'
import { type AddressInfo, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { describe, type TestContext, test } from 'node:test'
import { type Dovecot, dovecotForTests, password, withoutDovecot } from '../../../test/stand-ins/dovecot.ts'
import type { MailServer } from '../../kernel/mailbox-ports.ts'
import { certificateFor } from '../smtp-transport/fixtures/sending.ts'
import { openImap } from './imap.ts'

const host = 'mail.shop.example'
const certificate = await certificateFor(host)
const resolve = async () => [{ address: '127.0.0.1', family: 4 as const }]
const [trusting, doubting] = [
  openImap({ allowPrivate: true, resolve, ca: certificate.cert }),
  openImap({ allowPrivate: true, resolve }),
]

const server = (port: number, given: Partial<MailServer> = {}): MailServer => ({
  host,
  port,
  secure: false,
  credentials: { user: 'one', password },
  ...given,
})

describe('TLS with the server of a mailbox', { skip: withoutDovecot }, async () => {
  const dovecot = withoutDovecot ? ({} as Dovecot) : await dovecotForTests(certificate)

  test('from the start and by STARTTLS, with a certificate that is trusted', async () => {
    for (const secure of [true, false]) {
      const at = server(secure ? dovecot.securePort : dovecot.port, { secure })
      assert.equal(await trusting.test(at), undefined)
      const mailbox = await trusting.open(at)
      assert.deepEqual(mailbox.folders, ['Spam', 'INBOX'])
      mailbox.close()
    }
  })

  test('a certificate that nobody vouches for, or of another name, is refused in words', async () => {
    for (const secure of [true, false]) {
      const at = server(secure ? dovecot.securePort : dovecot.port, { secure })
      const unknown = await doubting.test(at)
      assert.match(String(unknown), /^the certificate of mail\.shop\.example is not trusted: self-signed/)
      await assert.rejects(doubting.open(at), { name: 'MailboxFault', code: 'unreachable' })
      const misnamed = await trusting.test({ ...at, host: 'other.shop.example' })
      assert.match(
        String(misnamed),
        /^the certificate of other\.shop\.example is not trusted: Hostname\/IP does/,
      )
    }
  })

  test('TLS from the start is not tried where it is not spoken', async () => {
    assert.match(String(await trusting.test(server(dovecot.port, { secure: true }))), /use secure: false/)
  })
})

/** Agrees to everything, and remembers it. */
async function bareServer(t: TestContext) {
  const said: string[] = []
  const listener = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] ready\r\n')
    createInterface(socket).on('line', (line) => {
      said.push(line)
      socket.write(`${line.split(' ')[0]} OK done\r\n`)
    })
  })
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done))
  t.after(() => listener.close())
  return { port: (listener.address() as AddressInfo).port, said }
}

test('a server without STARTTLS gets no password, except on this very machine', async (t) => {
  const { port, said } = await bareServer(t)
  const offersNone = `${host} offers no STARTTLS: the password is not sent unencrypted`
  assert.equal(await trusting.test(server(port)), offersNone)
  assert.ok(!said.some((line) => /login|authenticate/i.test(line)), said.join('\n'))
  assert.equal(await trusting.test(server(port, { host: '127.0.0.1' })), undefined)
  assert.ok(said.some((line) => /login|authenticate/i.test(line)))
})

import assert from 'node:assert/strict'
import { type AddressInfo, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { after, describe, test } from 'node:test'
import { ImapFlow } from 'imapflow'
import { proxyTo } from '../../../test/stand-ins/cuttable-proxy.ts'
import { type Dovecot, dovecotForTests, password, withoutDovecot } from '../../../test/stand-ins/dovecot.ts'
import type { MailServer } from '../../kernel/mailbox-ports.ts'
import { openImap } from './imap.ts'

const mail = (id: string, body = 'Hello') =>
  `From: anna@example.org\r\nTo: owner@a.example\r\nSubject: Hello\r\nMessage-ID: <${id}>\r\n\r\n${body}\r\n`

const never = new AbortController().signal

describe('a mailbox over IMAP', { skip: withoutDovecot }, async () => {
  const dovecot = withoutDovecot ? ({} as Dovecot) : await dovecotForTests()
  const server = (user: string, given: Partial<MailServer> = {}): MailServer => ({
    host: '127.0.0.1',
    port: dovecot.port,
    secure: false,
    credentials: { user, password },
    ...given,
  })
  const imap = openImap({ allowPrivate: true })

  test('gives what came after a number, in its order, and marks nothing as read', async () => {
    for (const id of ['a@x', 'b@x', 'c@x']) await dovecot.append('one', mail(id))
    await dovecot.append('one', mail('junk@x'), { folder: 'Spam' })
    const mailbox = await imap.open(server('one'))
    assert.deepEqual(mailbox.folders, ['Spam', 'INBOX'])
    await mailbox.enter('Spam')
    assert.equal((await mailbox.headsAfter(0, 10)).length, 1)
    const { uidNext } = await mailbox.enter('INBOX')
    const heads = await mailbox.headsAfter(1, 10)
    assert.deepEqual(
      heads.map(({ uid, head }) => [uid, /<(.*)>/.exec(head.toString())?.[1]]),
      [
        [2, 'b@x'],
        [3, 'c@x'],
      ],
    )
    assert.deepEqual(await mailbox.headsAfter(uidNext - 1, 10), [])
    assert.deepEqual((await mailbox.headsAfter(0, 2)).length, 2)
    assert.match(String(await mailbox.source(2)), /Hello/)
    assert.equal(await mailbox.source(99), undefined)
    mailbox.close()
    const auth = { user: 'one', pass: password }
    const owner = new ImapFlow({ host: '127.0.0.1', port: dovecot.port, secure: false, auth, logger: false })
    await owner.connect()
    await owner.mailboxOpen('INBOX')
    assert.equal(((await owner.search({ seen: false }, { uid: true })) || []).length, 3)
    await owner.logout()
  })

  test('is told of new mail at once, also of mail that came while it was looking', async () => {
    const mailbox = await imap.open(server('two'))
    await mailbox.enter('INBOX')
    const waiting = mailbox.wait(30_000, never)
    await dovecot.append('two', mail('a@x'))
    await waiting
    await mailbox.enter('INBOX')
    assert.equal((await mailbox.headsAfter(0, 10)).length, 1)
    await dovecot.append('two', mail('b@x'))
    await mailbox.headsAfter(1, 10)
    await mailbox.wait(30_000, never)
    mailbox.close()
  })

  test('takes the first megabyte of a large message, and its head alone', async () => {
    await dovecot.append('three', mail('large@x', 'x'.repeat(70).concat('\r\n').repeat(40_000)))
    const mailbox = await imap.open(server('three'))
    await mailbox.enter('INBOX')
    const [head] = await mailbox.headsAfter(0, 1)
    assert.ok(head && head.head.length < 300)
    assert.equal((await mailbox.source(1))?.length, 1024 * 1024)
    mailbox.close()
  })

  test('begins with the first message of a time', async () => {
    await dovecot.append('four', mail('old@x'), { at: new Date('2026-11-10T10:00:00Z') })
    await dovecot.append('four', mail('new@x'), { at: new Date('2026-11-15T10:00:00Z') })
    const mailbox = await imap.open(server('four'))
    await mailbox.enter('INBOX')
    assert.equal(await mailbox.firstSince(new Date('2026-11-15T10:00:00Z')), 2)
    assert.equal(await mailbox.firstSince(new Date('2026-11-15T10:00:01Z')), undefined)
    mailbox.close()
  })

  test('finds the first mail of a time behind many of the day before', async () => {
    const before = new Date('2026-11-15T09:00:00Z')
    const many = Array.from({ length: 102 }, (_, n) => mail(`m${n}@x`))
    await dovecot.append('many', many, { at: before })
    await dovecot.append('many', mail('new@x'), { at: new Date('2026-11-15T10:00:00Z') })
    const mailbox = await imap.open(server('many'))
    await mailbox.enter('INBOX')
    assert.equal(await mailbox.firstSince(new Date('2026-11-15T10:00:00Z')), 103)
    mailbox.close()
  })

  test('finds what was sent', async () => {
    await dovecot.append('five', `X-Posthorn-Id: ref-1\r\n${mail('s@x')}`, { folder: 'Sent' })
    const mailbox = await imap.open(server('five'))
    assert.deepEqual(await mailbox.findSent(['ref-1', 'ref-2']), [{ ref: 'ref-1', messageId: '<s@x>' }])
    mailbox.close()
  })

  test('other numbers are known for others', async () => {
    await dovecot.append('six', mail('a@x'))
    const before = await imap.open(server('six'))
    const { uidValidity } = await before.enter('INBOX')
    before.close()
    await dovecot.rebuild('six')
    const mailbox = await imap.open(server('six'))
    assert.notEqual((await mailbox.enter('INBOX')).uidValidity, uidValidity)
    mailbox.close()
  })

  test('says in words what stands against it', async () => {
    const wrong = server('one', { credentials: { user: 'one', password: 'no' } })
    assert.match(String(await imap.test(wrong)), /^127\.0\.0\.1 refused the login: /)
    await assert.rejects(imap.open(wrong), { name: 'MailboxFault', code: 'login' })
    await assert.rejects(imap.open(server('one', { port: 9 })), { name: 'MailboxFault', code: 'unreachable' })
    assert.equal(await imap.test(server('one')), undefined)
    const guarded = openImap({ allowPrivate: false })
    assert.match(String(await guarded.test(server('one'))), /not a public address/)
    const named = openImap({ allowPrivate: false, resolve: async () => [{ address: '10.0.0.1', family: 4 }] })
    assert.match(String(await named.test(server('one', { host: 'imap.example' }))), /not a public address/)
  })

  test('a connection that is cut, or falls silent, ends what was asked', async () => {
    await dovecot.append('seven', mail('a@x'))
    const proxy = await proxyTo(`imap://127.0.0.1:${dovecot.port}`)
    const through = server('seven', { port: Number(new URL(proxy.url).port) })
    const mailbox = await imap.open(through)
    await mailbox.enter('INBOX')
    const waiting = mailbox.wait(30_000, never)
    proxy.cut()
    await assert.rejects(waiting, { name: 'MailboxFault', code: 'unreachable' })
    proxy.mend()
    const impatient = await openImap({ allowPrivate: true, timeoutMs: 4_000 }).open(through)
    await impatient.enter('INBOX')
    proxy.silence()
    await assert.rejects(impatient.headsAfter(0, 10), {
      name: 'MailboxFault',
      message: /did not answer in time/,
    })
  })
})

/** Says yes to everything and remembers who came. */
async function tokenServer() {
  const seen: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('* OK [CAPABILITY IMAP4rev1 SASL-IR AUTH=XOAUTH2] ready\r\n')
    createInterface(socket).on('line', (line) => {
      const [tag, command, mechanism, given = ''] = line.split(' ')
      if (command === 'AUTHENTICATE') seen.push(`${mechanism} ${Buffer.from(given, 'base64')}`)
      socket.write(`${tag} OK done\r\n`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  return { port: (server.address() as AddressInfo).port, seen }
}

test('a token opens a mailbox as well as a password', async () => {
  const { port, seen } = await tokenServer()
  const credentials = { user: 'anna@a.example', accessToken: 'token-1' }
  const mailbox = await openImap({ allowPrivate: true }).open({
    host: '127.0.0.1',
    port,
    secure: false,
    credentials,
  })
  assert.deepEqual(mailbox.folders, ['INBOX'])
  mailbox.close()
  assert.deepEqual(seen, ['XOAUTH2 user=anna@a.example\x01auth=Bearer token-1\x01\x01'])
})

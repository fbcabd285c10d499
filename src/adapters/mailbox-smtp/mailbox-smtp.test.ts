import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MailServer } from '../../kernel/mailbox-ports.ts'
import { type Habits, serve } from '../smtp-transport/fixtures/scripted-server.ts'
import { openMailboxSmtp } from './mailbox-smtp.ts'

const mail = {
  from: 'me@acme.example',
  to: 'ann@globex.example',
  raw: Buffer.from('Subject: hi\r\n\r\n.dot\r\n'),
}
const allowed = openMailboxSmtp({ guard: { allowPrivate: true }, timeouts: { replyMs: 500 } })

const at = (
  port: number,
  credentials: MailServer['credentials'] = { user: 'me', password: 'x' },
): MailServer => ({
  host: '127.0.0.1',
  port,
  secure: false,
  credentials,
})

const taking = (more: Habits['on'] = () => undefined, offers = ['AUTH PLAIN XOAUTH2']): Habits => ({
  offers,
  on: (command, peer) => more(command, peer) ?? (command.startsWith('AUTH') ? '235 in' : undefined),
})

test('a message is handed over, and each refusal is known by the command that it answers', async (t) => {
  const server = await serve(t, taking())
  assert.equal((await allowed.send(at(server.port), mail)).kind, 'accepted')
  assert.equal(server.received[0]?.text, 'Subject: hi\r\n\r\n.dot\r\n')
  const cases: [verb: string, says: string, expected: object][] = [
    ['AUTH', '535 5.7.8 no', { kind: 'login_refused' }],
    ['AUTH', '454 4.7.0 later', { kind: 'deferred', stage: null }],
    ['MAIL', '550 5.7.1 no', { kind: 'rejected', stage: 'mail' }],
    ['MAIL', '530 5.7.0 log in', { kind: 'login_refused' }],
    ['RCPT', '550 5.1.1 no', { kind: 'rejected', stage: 'rcpt' }],
    ['RCPT', '452 4.2.2 full', { kind: 'deferred', stage: 'rcpt' }],
    ['DATA', '554 5.7.1 spam', { kind: 'rejected', stage: 'data' }],
    ['MAIL', '421 4.3.2 bye', { kind: 'deferred', stage: 'mail' }],
  ]
  for (const [verb, says, expected] of cases) {
    const refusing = await serve(
      t,
      taking((command) => (command.startsWith(verb) ? says : undefined)),
    )
    const outcome = await allowed.send(at(refusing.port), mail)
    const { kind, stage } = { stage: undefined, ...outcome }
    assert.deepEqual({ kind, ...(stage === undefined ? {} : { stage }) }, expected, `${verb} ${says}`)
    assert.equal(refusing.received.length, 0)
  }
})

test('no answer to the end of the message leaves it uncertain', async (t) => {
  const server = await serve(t, { ...taking(), onText: () => '' })
  assert.equal((await allowed.send(at(server.port), mail)).kind, 'uncertain')
})

test('an access token logs in by XOAUTH2, and its refusal is told', async (t) => {
  const said: string[] = []
  const server = await serve(
    t,
    taking((command) => {
      if (command.startsWith('AUTH')) said.push(command)
      return undefined
    }),
  )
  const token = { user: 'me@acme.example', accessToken: 'tok' }
  assert.equal(await allowed.test(at(server.port, token)), undefined)
  const sent = Buffer.from(said[0]?.split(' ')[2] ?? '', 'base64').toString()
  assert.equal(sent, 'user=me@acme.example\x01auth=Bearer tok\x01\x01')

  const refusing = await serve(
    t,
    taking((command) => {
      if (command.startsWith('AUTH')) return `334 ${Buffer.from('{"status":"401"}').toString('base64')}`
      return command === '' ? '535 5.7.3 token expired' : undefined
    }),
  )
  assert.match((await allowed.test(at(refusing.port, token))) ?? '', /token expired/)
  const plainOnly = await serve(t, taking(undefined, ['AUTH PLAIN']))
  assert.match((await allowed.test(at(plainOnly.port, token))) ?? '', /no login by XOAUTH2, only by PLAIN/)
})

test('private and metadata addresses are not connected to', async (t) => {
  const server = await serve(t, taking())
  const guarded = openMailboxSmtp({ guard: { allowPrivate: false } })
  assert.match((await guarded.test(at(server.port))) ?? '', /127\.0\.0\.1 is not a public address/)
  const named = openMailboxSmtp({
    guard: { allowPrivate: false, resolve: async () => [{ address: '10.0.0.1', family: 4 }] },
  })
  assert.match((await named.test({ ...at(25), host: 'mail.example.com' })) ?? '', /is not a public address/)
  assert.equal((await named.send({ ...at(25), host: 'mail.example.com' }, mail)).kind, 'deferred')
  assert.match((await allowed.test({ ...at(25), host: '169.254.169.254' })) ?? '', /is not a public address/)
  assert.equal(server.peers.length, 0)
})

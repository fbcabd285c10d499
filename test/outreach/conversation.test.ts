// From the first message to the last word, over the servers of a mailbox: SMTP one way, IMAP the other.
import assert from 'node:assert/strict'
import { type AddressInfo, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import {
  type Account,
  mailServer,
  makeMailbox,
  makeOutreach,
  makeProspects,
  makeSequence,
  pass,
  run,
} from '../../src/features/outreach/fixtures/outreach.ts'
import { parseMail } from '../../src/features/outreach/reading/parse-mail.ts'
import { sendReplies } from '../../src/features/outreach/sending/send-replies.ts'
import { startWatching } from '../../src/features/outreach/watching/watch-mailboxes.ts'
import { type Dovecot, dovecotForTests, password, withoutDovecot } from '../stand-ins/dovecot.ts'
import { until } from '../until.ts'

const outreach = await makeOutreach()
const { clock, engine } = outreach
const dovecot = withoutDovecot ? ({} as Dovecot) : await dovecotForTests()
// A Monday that is over: a mail server files nothing under a time to come.
const begin = new Date('2025-11-17T08:00:00Z')
const ann = 'ann@globex.example'

const headerOf = (text: string, name: string) =>
  new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(text)?.[1]?.replaceAll(/\r\n[ \t]/g, ' ')

const idOf = (text: string) => headerOf(text, 'Message-ID') ?? ''

/** As a mail program of the prospect writes it. */
const answer = (to: string, id: string, words: string) =>
  [
    `From: Ann <${ann}>`,
    'To: me@acme.example',
    `Subject: Re: ${headerOf(to, 'Subject')?.replace(/^Re: /, '')}`,
    `Message-ID: <${id}@globex.example>`,
    `In-Reply-To: ${idOf(to)}`,
    `References: ${[headerOf(to, 'References'), idOf(to)].filter(Boolean).join(' ')}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    words,
    '',
  ].join('\r\n')

function watch(t: TestContext): void {
  const timings = { tickMs: 50, leaseMs: 60_000, waitMs: 60_000, retryMs: 100 }
  const { db, log, now, secretKeys } = engine
  const { reader } = outreach
  const watching = startWatching({ db, log, now, reader, secretKeys, timings })
  t.after(() => watching.stop())
}

const inboxOf = (account: Account, count: number) =>
  until(
    async () => {
      const { body } = await account.call('GET', '/v3/outreach/inbox')
      return body.replies.length === count && body.replies
    },
    `${count} replies`,
    30_000,
  )

test('a conversation', { skip: withoutDovecot }, async (t) => {
  clock.now = begin
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const user = `me${account.accountId}`
  const imap = { host: '127.0.0.1', port: dovecot.port, secure: false, user, password }
  const mailboxId = await makeMailbox(account, server.port, { imap })
  const [prospectId] = await makeProspects(account, [ann])
  const sequenceId = await makeSequence(account, [mailboxId])
  await run(account, sequenceId, [ann])
  await pass(outreach, 60)
  const first = server.received[0]?.text ?? ''
  watch(t)
  const deliver = (raw: string) => dovecot.append(user, raw, { at: clock.now })

  await deliver(answer(first, 'a1', 'Yes, I am interested, please call me.'))
  const [reply] = await inboxOf(account, 1)
  const { from, subject, classification, state } = reply
  assert.deepEqual([from, subject, classification, state], [ann, 'Re: Hello ann', 'interested', 'new'])
  assert.deepEqual([reply.sequenceId, reply.prospectId, reply.mailboxId], [sequenceId, prospectId, mailboxId])
  const { body: stats } = await account.call('GET', `/v3/outreach/campaigns/${sequenceId}/stats`)
  assert.deepEqual([stats.stopped.reasons, stats.replies.interested], [{ replied: 1 }, 1])

  const said = { text: 'Gladly: tomorrow at ten?', html: '<p>Gladly: tomorrow at ten?</p>' }
  const answered = await account.call('POST', `/v3/outreach/inbox/${reply.id}/reply`, said)
  assert.equal(answered.status, 202)
  await sendReplies(engine)
  assert.equal(server.received.length, 2)
  const second = server.received[1]
  assert.ok(second)
  assert.deepEqual([second.from, second.to], ['me@acme.example', ann])
  assert.deepEqual(
    ['Subject', 'Message-ID', 'In-Reply-To', 'References'].map((name) => headerOf(second.text, name)),
    ['Re: Hello ann', answered.body.messageId, '<a1@globex.example>', `${idOf(first)} <a1@globex.example>`],
  )
  assert.match(headerOf(second.text, 'List-Unsubscribe') ?? '', /^<http:\/\/test\/u\//)
  const { text, html } = (await parseMail(Buffer.from(second.text, 'latin1'))) ?? {}
  for (const words of [/Gladly: tomorrow at ten\?/, /Acme SAS/, /1 rue de la Paix/, /Unsubscribe/])
    for (const form of [text, html]) assert.match(form ?? '', words)

  await deliver(answer(second.text, 'a2', 'Ten is fine.'))
  const [again] = await inboxOf(account, 2)
  assert.deepEqual([again.sequenceId, again.prospectId], [sequenceId, prospectId])
  assert.match(again.reason, /in the thread/)
  await deliver(answer(second.text, 'a3', 'Please remove me from your list.'))
  const [last] = await inboxOf(account, 3)
  assert.equal(last.classification, 'unsubscribe')
  const refused = await account.call('POST', `/v3/outreach/inbox/${last.id}/reply`, said)
  assert.deepEqual([refused.status, refused.body.code], [422, 'recipient_suppressed'])

  clock.now = new Date('2025-11-20T08:00:00Z')
  await pass(outreach, 180)
  await sendReplies(engine)
  assert.equal(server.received.length, 2)
})

/** Lets in whoever has the token, by XOAUTH2 alone. */
async function tokenServers(t: TestContext, token: () => string) {
  const isRight = (said: string) =>
    Buffer.from(said, 'base64').toString().includes(`auth=Bearer ${token()}\x01`)
  const smtp = await mailServer(t, {
    offers: ['AUTH XOAUTH2'],
    on: (command) => {
      if (!command.startsWith('AUTH XOAUTH2 ')) return undefined
      return isRight(command.slice(13)) ? '235 2.7.0 in' : '535 5.7.8 the token is no longer valid'
    },
  })
  const imap = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('* OK [CAPABILITY IMAP4rev1 SASL-IR AUTH=XOAUTH2] ready\r\n')
    createInterface(socket).on('line', (line) => {
      const [tag, command, , said = ''] = line.split(' ')
      const isIn = command !== 'AUTHENTICATE' || isRight(said)
      socket.write(
        `${tag} ${isIn ? 'OK done' : 'NO [AUTHENTICATIONFAILED] the token is no longer valid'}\r\n`,
      )
    })
  })
  await new Promise<void>((done) => imap.listen(0, '127.0.0.1', done))
  t.after(() => imap.close())
  return { smtp, imapPort: (imap.address() as AddressInfo).port }
}

test('a mailbox is used with a token; one that is over pauses it until there is a new one', async (t) => {
  clock.now = begin
  let token = 'token-1'
  const { smtp, imapPort } = await tokenServers(t, () => token)
  const account = await outreach.makeAccount()
  const at = (port: number) => ({ host: '127.0.0.1', port, secure: false, user: 'me', accessToken: token })
  const id = await makeMailbox(account, smtp.port, { smtp: at(smtp.port), imap: at(imapPort) })
  const path = `/v3/outreach/mailboxes/${id}`
  const works = { ok: true, error: null }
  assert.deepEqual((await account.call('POST', `${path}/test`)).body, { smtp: works, imap: works })
  await makeProspects(account, [ann])
  const sequence = await makeSequence(account, [id])
  await run(account, sequence, [ann])

  token = 'token-2'
  await pass(outreach, 60)
  const { body } = await account.call('GET', path)
  assert.deepEqual([body.state, body.pausedReason, smtp.received.length], ['paused', 'login', 0])
  assert.match(body.health.lastError, /the token is no longer valid/)
  const renewed = { smtp: { accessToken: token }, imap: { accessToken: token } }
  assert.equal((await account.call('PUT', path, renewed)).status, 204)
  const { text } = await account.call('GET', path)
  assert.doesNotMatch(text, /token-/)
  await pass(outreach, 60)
  assert.deepEqual(
    smtp.received.map(({ to }) => to),
    [ann],
  )
})

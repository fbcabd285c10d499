// What is kept of an incoming message.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import type { Dovecot } from '../../../../test/stand-ins/dovecot.ts'
import { showId } from '../../../kernel/id.ts'
import { complaint, report } from '../reading/fixtures/reports.ts'
import { parseMail } from '../reading/parse-mail.ts'
import { type Mailbox, makeOutreach, type Written } from './fixtures/outreach.ts'
import { syncMailbox } from './sync-mailbox.ts'
import { takeMail } from './take-mail.ts'

const app = await makeApp()
const outreach = makeOutreach(app, { port: 9 } as Dovecot)

type Read = { type?: string; body: string; from?: string; by?: Mailbox }

async function takeRaw({ accountId, id: mailboxId, email: mailboxEmail }: Mailbox, raw: string) {
  const mail = await parseMail(Buffer.from(raw))
  assert.ok(mail)
  const at = new Date()
  await takeMail(app.pools.db, { accountId, mailboxId, mailboxEmail, mail, receivedAt: at, at })
}

/** As a mail program of the prospect writes it. Gives what the inbox shows of them. */
async function take(written: Written, { type = 'text/plain', body, from = written.email, by }: Read) {
  const raw = [
    `From: Ann <${from}>`,
    `In-Reply-To: ${written.messageId}`,
    'Subject: Re: A question',
    `Message-ID: <${written.ref}@answers.example>`,
    `Content-Type: ${type}; charset=utf-8`,
    '',
    body,
  ].join('\r\n')
  await takeRaw(by ?? written.mailbox, raw)
  const path = `/v3/outreach/inbox?prospectId=${written.prospectId}`
  return (await app.call('GET', path)).body.replies[0]
}

test('a reply that is HTML alone has a text', async () => {
  const written = await outreach.writeTo(await outreach.makeMailbox())
  const body = '<style>p{}</style><p>Yes, I am <b>interested</b>.</p><p>Ann</p>'
  const reply = await take(written, { type: 'text/html', body })
  assert.equal(reply.text, 'Yes, I am interested.\n\nAnn')
  assert.equal(reply.classification, 'interested')
  assert.equal((await app.call('GET', `/v3/outreach/inbox/${reply.id}`)).body.html.trim(), body)
})

test('who is away for one sequence is away for the others', async () => {
  const mailbox = await outreach.makeMailbox()
  const written = await outreach.writeTo(mailbox)
  const other = await outreach.writeTo(mailbox, { email: written.email })
  const somebody = await outreach.writeTo(mailbox)
  const back = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10)
  const absence = [
    `From: Ann <${written.email}>`,
    'Auto-Submitted: auto-replied',
    `In-Reply-To: ${written.messageId}`,
    'Subject: Out of office',
    '',
    `I am out of the office until ${back}.`,
  ]
  await takeRaw(mailbox, absence.join('\r\n'))
  for (const one of [written, other]) {
    const { state, days } = await outreach.enrolment(one)
    assert.equal(state, 'active')
    assert.ok(days >= 20, `${days}`)
  }
  assert.equal((await outreach.enrolment(somebody)).days, 3)
})

test('what is reported about a message is among its events, once', async () => {
  const mailbox = await outreach.makeMailbox()
  const [bounced, reported] = [await outreach.writeTo(mailbox), await outreach.writeTo(mailbox)]
  const about = {
    recipient: bounced.email,
    original: bounced.messageId,
    diagnostic: '550 5.1.1 no such user',
  }
  for (const action of ['failed', 'failed again']) await takeRaw(mailbox, report({ ...about, action }))
  await takeRaw(mailbox, complaint({ original: reported.messageId }))
  const read = async ({ ref }: Written) =>
    (await app.call('GET', `/api/v1/messages/${showId('msg', ref)}`)).body
  const { status, last_error, events } = await read(bounced)
  const said = { smtp_code: 550, enhanced_code: '5.1.1' }
  assert.equal(status, 'failed')
  assert.deepEqual(last_error, { ...said, code: 'unknown_user', message: '550 5.1.1 no such user' })
  const [{ id, at, ...bounce }, ...others] = events
  assert.match(`${id} ${at}`, /^evt_\w+ 20\d\d-/)
  const of = { type: 'bounce', bounce_type: 'hard', class: 'unknown_user', reason: '550 5.1.1 no such user' }
  assert.deepEqual([bounce, others], [{ ...said, ...of }, []])
  const complained = (await read(reported)).events.map((one: Record<string, unknown>) => one.type)
  assert.deepEqual(complained, ['complaint'])
  for (const { email, ref } of [bounced, reported]) {
    const [row] = (await app.call('GET', `/api/v1/suppressions?email=${email}`)).body.data
    assert.equal(row.message_id, showId('msg', ref))
  }
})

test('who is behind an address may be dead without it; the same name within a company is the same', async () => {
  const mailbox = await outreach.makeMailbox()
  const written = await Promise.all([1, 2, 3].map(() => outreach.writeTo(mailbox)))
  const behind = ['member@team.example', `${written[1]?.email.split('@')[0]}@within.team.example`, undefined]
  for (const [at, { email, messageId }] of written.entries()) {
    const of = { recipient: behind[at] ?? email, originalRecipient: email }
    // Some servers give their reports no identifier, and send several within a second.
    const raw = report({ ...of, original: messageId, diagnostic: '550 5.1.1 gone' })
    await takeRaw(mailbox, raw.replace(/Message-ID: .*\.report>\r\n/, ''))
  }
  const reasons = await Promise.all(written.map(({ email }) => outreach.suppressed(app.accountId, email)))
  assert.deepEqual(reasons, [undefined, 'hard_bounce', 'hard_bounce'])
  for (const one of written) assert.equal((await outreach.enrolment(one)).state, 'stopped')
})

test('a report about several is judged by what it says of whom we wrote to', async () => {
  const mailbox = await outreach.makeMailbox()
  const written = async () => outreach.writeTo(mailbox)
  const [dead, blocked, arrived, spread, others] = [
    await written(),
    await written(),
    await written(),
    await written(),
    await written(),
  ]
  const elsewhere = { recipient: 'member@elsewhere.example' }
  const policy = { status: '5.7.1', diagnostic: '550 5.7.1 blocked by policy' }
  const of = ({ email, messageId }: Written) => ({ recipient: email, original: messageId })
  await takeRaw(mailbox, report({ ...of(dead), before: [{ ...elsewhere, ...policy }] }))
  await takeRaw(mailbox, report({ ...of(blocked), ...policy, before: [elsewhere] }))
  await takeRaw(mailbox, report({ ...of(arrived), action: 'relayed', status: '2.0.0', before: [elsewhere] }))
  const behind = { ...elsewhere, originalRecipient: spread.email }
  await takeRaw(mailbox, report({ ...of(spread), originalRecipient: spread.email, before: [behind] }))
  await takeRaw(
    mailbox,
    report({ ...of(others), ...elsewhere, before: [{ recipient: 'x@elsewhere.example' }] }),
  )
  const all = [dead, blocked, arrived, spread, others]
  const reasons = await Promise.all(all.map(({ email }) => outreach.suppressed(app.accountId, email)))
  assert.deepEqual(reasons, ['hard_bounce', undefined, undefined, 'hard_bounce', undefined])
  const states = await Promise.all(all.map(async (one) => (await outreach.enrolment(one)).state))
  assert.deepEqual(states, ['stopped', 'stopped', 'active', 'stopped', 'stopped'])
  const { body } = await app.call('GET', `/api/v1/messages/${showId('msg', dead.ref)}`)
  assert.equal(body.last_error.message, `550 5.1.1 <${dead.email}>: user unknown`)
  assert.deepEqual([body.events.length, body.events[0].bounce_type], [1, 'hard'])
})

test('an answer counts though its sender cannot be read; what a server writes does not', async () => {
  const mailbox = await outreach.makeMailbox()
  const [odd, bare, served] = await Promise.all([1, 2, 3].map(() => outreach.writeTo(mailbox)))
  assert.ok(odd && bare && served)
  const tell = (to: Written, from: string, text: string) =>
    takeRaw(mailbox, `From: ${from}\r\nIn-Reply-To: ${to.messageId}\r\nSubject: Re: A\r\n\r\n${text}`)
  await tell(odd, `Weber, Ann <${odd.email}>`, 'STOP')
  await tell(bare, 'Ann <ann..@phone.example>', 'STOP')
  await tell(served, 'Mail Delivery Subsystem <MAILER-DAEMON>', 'You need to stop emailing them.')
  for (const { email } of [odd, bare])
    assert.equal(await outreach.suppressed(app.accountId, email), 'unsubscribe')
  assert.equal(await outreach.suppressed(app.accountId, served.email), undefined)
  assert.equal((await outreach.enrolment(served)).state, 'active')
})

test('whoever asks to be left alone is unsubscribed as a contact, too', async () => {
  const written = await outreach.writeTo(await outreach.makeMailbox())
  await app.call('POST', '/v3/contacts', { body: { email: written.email } })
  await take(written, { body: 'Please remove me from your list.' })
  const { body } = await app.call('GET', `/v3/contacts/${written.email}`)
  assert.deepEqual([body.status, body.emailBlacklisted], ['unsubscribed', true])
})

test('one that has a text keeps it', async () => {
  const written = await outreach.writeTo(await outreach.makeMailbox())
  assert.equal((await take(written, { type: 'text/plain', body: '<b>Hm</b>' })).text.trim(), '<b>Hm</b>')
})

test('where addresses share an inbox, an answer is told to the one that wrote', async () => {
  const mailbox = await outreach.makeMailbox()
  const alias = await outreach.makeMailbox(app.accountId, { user: mailbox.user })
  const written = await outreach.writeTo(mailbox)
  // A copy of what the owner wrote under one of them is nobody's answer.
  assert.equal(await take(written, { body: 'As I said', from: mailbox.email, by: alias }), undefined)
  assert.equal((await outreach.enrolment(written)).state, 'active')
  const reply = await take(written, { body: 'Yes, I am interested.', by: alias })
  assert.equal(reply.mailboxId, Number(mailbox.id))
})

test('an answer in an inbox of its own is told to the mailbox that received it', async () => {
  const written = await outreach.writeTo(await outreach.makeMailbox())
  const other = await outreach.makeMailbox()
  assert.equal((await take(written, { body: 'Yes, gladly.', by: other })).mailboxId, Number(other.id))
})

test('who answered is not written to again, though the answer was put away before it was read whole', async () => {
  const mailbox = await outreach.makeMailbox()
  const [answered, other] = [await outreach.writeTo(mailbox), await outreach.writeTo(mailbox)]
  const headOf = (lines: string[]) => Buffer.from([...lines, '', ''].join('\r\n'))
  const now = new Date()
  const heads = [
    headOf([
      `From: Ann <${answered.email}>`,
      `In-Reply-To: ${answered.messageId}`,
      'Subject: Re: A question',
    ]),
    headOf([
      'From: Mail <mailer-daemon@relay.example>',
      `In-Reply-To: ${other.messageId}`,
      'Subject: Undelivered',
    ]),
    headOf(['From: A friend <friend@home.example>', 'Subject: Lunch']),
  ].map((head, i) => ({ uid: i + 1, receivedAt: now, head }))
  const open = {
    folders: ['INBOX'],
    enter: async () => ({ uidValidity: '1', uidNext: 4 }),
    firstSince: async () => 1,
    headsAfter: async (uid: number) => heads.filter((one) => one.uid > uid),
    source: async () => undefined,
    findSent: async () => [],
    wait: async () => {},
    close: () => {},
  }
  const { accountId: account_id, ...named } = mailbox
  const watched = { ...named, account_id, imap: {} as never, sealed: Buffer.of(), settings: Buffer.of() }
  const syncing = { db: app.pools.db, now: () => now, mailbox: { ...watched, created_at: now }, open }
  await syncMailbox(syncing, new AbortController().signal)
  const states = [await outreach.enrolment(answered), await outreach.enrolment(other)].map(
    ({ state }) => state,
  )
  assert.deepEqual(states, ['stopped', 'active'])
  const { body } = await app.call('GET', `/v3/outreach/inbox?prospectId=${answered.prospectId}`)
  assert.deepEqual([body.count, body.replies[0]?.text], [1, ''])
})

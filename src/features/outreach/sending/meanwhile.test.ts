// What happens to a person, a mailbox or an account between the plan of a message and its hand-over.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Peer, Received } from '../../../adapters/smtp-transport/fixtures/scripted-server.ts'
import { row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import {
  type Account,
  enrollments,
  mailServer,
  makeMailbox,
  makeOutreach,
  makeProspects,
  makeSequence,
  monday,
  pass,
  run,
  watchUntil,
} from '../fixtures/outreach.ts'
import { insertReply } from '../inbox/reply-queries.ts'
import { planAccount, planAll } from '../planning/plan-account.ts'
import { storeMoments } from '../planning/queries.ts'
import { parseMail } from '../reading/parse-mail.ts'
import { takeMail } from '../watching/take-mail.ts'
import { sendDue } from './engine.ts'
import { sendReplies } from './send-replies.ts'

const outreach = await makeOutreach()
const { app, clock, engine } = outreach
const { db } = engine
const ann = 'ann@globex.example'

/** A sequence that runs, with one prospect, over one mailbox. */
async function running(port: number, more: object = {}) {
  clock.now = monday
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, port)
  const [prospect] = await makeProspects(account, [ann])
  const id = await makeSequence(account, [mailbox], more)
  await run(account, id, [ann])
  return { account, mailbox, id, prospect: String(prospect) }
}

const statesOf = async (id: number) =>
  (await enrollments(outreach, id)).map(({ state, reason, next_step }) => [state, reason, next_step])

const headerOf = (raw: string, name: string) =>
  new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(raw)?.[1]?.replaceAll(/\r\n[ \t]/g, ' ')

test('a mailbox that is deleted while its message leaves: the thread ends with it', async (t) => {
  const deleting: { now?: () => Promise<unknown> } = {}
  const onText = (_: unknown, { socket }: Peer) => {
    deleting.now?.().then(() => socket.write('250 2.0.0 taken\r\n'))
    return ''
  }
  const server = await mailServer(t, { onText })
  const { account, mailbox, id } = await running(server.port)
  deleting.now = () => account.call('DELETE', `/v3/outreach/mailboxes/${mailbox}`)
  await pass(outreach, 60)
  assert.deepEqual(await statesOf(id), [['stopped', 'mailbox_deleted', 1]])
  const { body } = await account.call('GET', `/v3/outreach/campaigns/${id}/stats`)
  assert.deepEqual([body.sent, body.active], [1, 0])
})

test('whoever asks to be left alone while a message leaves gets no other', async (t) => {
  const asking: { now?: (text: string) => Promise<unknown> } = {}
  const onText = ({ text: raw }: Received, { socket }: Peer) => {
    asking.now?.(raw).then(() => socket.write('250 2.0.0 taken\r\n'))
    return ''
  }
  const server = await mailServer(t, { onText })
  const { id } = await running(server.port)
  asking.now = (raw) => {
    const token = /<http:\/\/test\/u\/([^>]+)>/.exec(raw)?.[1]
    return fetch(`${app.url}/u/${token}`, { method: 'POST', body: new URLSearchParams({}) })
  }
  await pass(outreach, 60)
  assert.deepEqual(await statesOf(id), [['stopped', 'unsubscribed', 1]])
})

/** What the prospect's machine says in answer to the message, on a Monday. */
async function takeAbsence({ accountId }: Account, mailbox: number, raw: string): Promise<void> {
  const mail = await parseMail(
    Buffer.from(
      [
        `From: Ann <${ann}>`,
        'Subject: Automatic reply: Hello',
        'Auto-Submitted: auto-replied',
        `Message-ID: <away-${clock.now.getTime()}@globex.example>`,
        `In-Reply-To: ${headerOf(raw, 'Message-ID')}`,
        '',
        'I am out of the office until 24 November 2026.',
      ].join('\r\n'),
    ),
  )
  assert.ok(mail)
  const [at, into] = [clock.now, { accountId, mailboxId: String(mailbox), mailboxEmail: 'me@acme.example' }]
  await db.transaction((tx) => takeMail(tx, { ...into, mail, receivedAt: at, at }))
}

for (const [words, says, texts] of [
  ['leaves', '250 2.0.0 taken', 1],
  ['is put off', '451 4.3.0 later', 2],
] as const)
  test(`an absence that is told while a message ${words} holds for the next one`, async (t) => {
    const telling: { now?: (text: string) => Promise<unknown> } = {}
    let count = 0
    const server = await mailServer(t, {
      onText: ({ text: raw }: Received, { socket }: Peer) => {
        count += 1
        const told = count === texts ? telling.now?.(raw) : undefined
        Promise.resolve(told).then(() => socket.write(`${told ? says : '250 2.0.0 taken'}\r\n`))
        return ''
      },
    })
    const { account, mailbox, id } = await running(server.port)
    telling.now = (raw) => takeAbsence(account, mailbox, raw)
    await pass(outreach, 60)
    if (texts === 2) {
      clock.now = new Date('2026-11-19T08:30:00Z')
      await pass(outreach, 60)
    }
    assert.equal(count, texts)
    const [one] = await enrollments(outreach, id)
    assert.deepEqual([one?.state, one?.next_step], ['active', 1])
    assert.ok((one?.due_at.toISOString() ?? '') > '2026-11-24', one?.due_at.toISOString())
  })

test('who says that they are away while the plan is made gets no moment in it', async (t) => {
  const server = await mailServer(t)
  const { account, mailbox, id } = await running(server.port)
  await pass(outreach, 60)
  clock.now = new Date('2026-11-19T08:30:00Z')
  await watchUntil(outreach, new Date('2026-11-19T09:30:00Z'))
  const { planned } = await planAccount(db, account.accountId, { now: clock.now, aheadMs: 3_600_000 })
  assert.deepEqual([planned.length, planned[0]?.step], [1, 1])
  await takeAbsence(account, mailbox, server.received[0]?.text ?? '')
  await storeMoments(db, account.accountId, planned)
  assert.equal((await enrollments(outreach, id))[0]?.planned_at, null)
  await pass(outreach, 60)
  assert.equal(server.received.length, 1)
})

test('who is suppressed between the plan and the moment is not written to', async (t) => {
  const server = await mailServer(t)
  const { account, id } = await running(server.port)
  while ((await enrollments(outreach, id))[0]?.planned_at === null) {
    await planAll(db, clock.now)
    clock.now = new Date(clock.now.getTime() + 60_000)
  }
  await account.call('POST', '/api/v1/suppressions', { email: ann, reason: 'manual' })
  await pass(outreach, 60)
  assert.deepEqual(await statesOf(id), [['stopped', 'suppressed', 0]])
  assert.equal(server.received.length, 0)
})

const Message = row<{ state: string }>({ state: text })

/** A reply of the prospect is there, and an answer to it waits. */
async function answering(account: Account, mailbox: number, given: { messageId?: string; refs?: string[] }) {
  const accountId = account.accountId
  const [messageId, refs] = [given.messageId ?? '<a1@globex.example>', given.refs ?? []]
  const id = await insertReply(db, {
    ...{ accountId, kind: 'reply', mailboxId: String(mailbox), sequenceId: null, prospectId: null },
    ...{
      fingerprint: Buffer.from(`${accountId} ${messageId}`),
      messageId,
      refs,
      sender: ann,
      senderName: '',
    },
    ...{ subject: 'Hm', text: 'Hm.', html: null, receivedAt: clock.now, at: clock.now },
    ...{ classification: null, confidence: 0, reason: '' },
  })
  const path = `/v3/outreach/inbox/${id}/reply`
  const { body, status } = await account.call('POST', path, { text: 'Gladly.' })
  assert.equal(status, 202)
  const stateOf = async () => {
    const found = await db.one(
      Message,
      sql`
      select state from outreach_messages
       where account_id = ${accountId} and message_id = ${body.messageId}`,
    )
    return found.state
  }
  return { path, stateOf }
}

test('an answer that waits does not leave once its reader asked to be left alone', async (t) => {
  const server = await mailServer(t)
  const { account, mailbox } = await running(server.port)
  const { stateOf } = await answering(account, mailbox, {})
  await account.call('POST', '/api/v1/suppressions', { email: ann, reason: 'manual' })
  await sendReplies(engine)
  assert.deepEqual([server.received.length, await stateOf()], [0, 'failed'])
})

test('an answer waits while nobody says who writes', async (t) => {
  const server = await mailServer(t)
  const { account, mailbox } = await running(server.port)
  const { path, stateOf } = await answering(account, mailbox, {})
  await account.call('PUT', '/v3/outreach/identity', { postalAddress: '' })
  const refused = await account.call('POST', path, { text: 'Gladly.' })
  assert.deepEqual([refused.status, refused.body.code], [422, 'legal_identity_missing'])
  await sendReplies(engine)
  assert.deepEqual([server.received.length, await stateOf()], [0, 'queued'])
  await account.call('PUT', '/v3/outreach/identity', { postalAddress: '2 High Street' })
  await sendReplies(engine)
  assert.equal(server.received.length, 1)
  assert.match(server.received[0]?.text ?? '', /2 High Street/)
})

test('identifiers that cannot stand in a header do not keep an answer', async (t) => {
  const server = await mailServer(t)
  const { account, mailbox } = await running(server.port)
  const refs = [
    '<first@acme.example>',
    '<é@globex.example>',
    '<a\u0007b@globex.example>',
    `<${'x'.repeat(980)}>`,
  ]
  const { stateOf } = await answering(account, mailbox, { messageId: '<ü@globex.example>', refs })
  await sendReplies(engine)
  assert.equal(await stateOf(), 'sent')
  assert.equal(headerOf(server.received[0]?.text ?? '', 'References'), '<first@acme.example>')
})

test('an answer that a test key asks for goes to the sandbox', async (t) => {
  const server = await mailServer(t)
  const { account, mailbox } = await running(server.port)
  const { key } = await app.makeKey({ mode: 'test' }, account.accountId)
  const call: Account['call'] = (method, path, body) => app.call(method, path, { key, body })
  const { stateOf } = await answering({ ...account, call }, mailbox, {})
  await sendReplies(engine)
  assert.deepEqual([server.received.length, await stateOf()], [0, 'sent'])
  const { body } = await call('GET', '/api/v1/sandbox/messages')
  assert.deepEqual([body.data.length, body.data[0]?.subject], [1, 'Re: Hm'])
})

test('a follow-up waits while its mailbox cannot be read: its prospect may have answered', async (t) => {
  const server = await mailServer(t)
  const { account, mailbox, id } = await running(server.port)
  await pass(outreach, 60)
  assert.equal(server.received.length, 1)
  const failing = (count: number) =>
    db.run(sql`
      update outreach_mailboxes set imap_failures = ${count}, imap_error = 'gone'
       where account_id = ${account.accountId} and id = ${mailbox}`)
  await failing(3)
  await makeProspects(account, ['bob@globex.example'])
  await account.call('POST', `/v3/outreach/campaigns/${id}/enroll`, { emails: ['bob@globex.example'] })
  clock.now = new Date('2026-11-19T08:30:00Z')
  await pass(outreach, 120)
  assert.deepEqual(
    server.received.map(({ to }) => to),
    [ann, 'bob@globex.example'],
  )
  // One that has its moment already is asked again.
  await db.run(sql`
    update outreach_enrollments set planned_at = ${clock.now}
     where account_id = ${account.accountId} and sequence_id = ${id} and next_step = 1`)
  await sendDue(engine)
  assert.equal(server.received.length, 2)
  await failing(0)
  await pass(outreach, 120)
  assert.deepEqual(
    server.received.map(({ to }) => to),
    [ann, 'bob@globex.example', ann],
  )
})

test('a test key neither adds to a sequence that sends for real, nor takes it over or keeps it back', async (t) => {
  const server = await mailServer(t)
  const { account, id } = await running(server.port)
  await makeProspects(account, ['bob@globex.example'])
  const { key } = await app.makeKey({ mode: 'test' }, account.accountId)
  for (const [path, body] of [
    ['enroll', { emails: ['bob@globex.example'] }],
    ['status', { status: 'running' }],
    ['status', { status: 'paused' }],
    ['status', { status: 'stopped' }],
    ['unenroll', { emails: [ann] }],
  ] as const) {
    const reply = await app.call('POST', `/v3/outreach/campaigns/${id}/${path}`, { key, body })
    assert.deepEqual([reply.status, /test key/.test(reply.text)], [400, true])
  }
  await pass(outreach, 60)
  assert.deepEqual(
    server.received.map(({ to }) => to),
    [ann],
  )
})

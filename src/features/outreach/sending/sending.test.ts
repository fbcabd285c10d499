import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newMessageId } from '../../messages/message-id.ts'
import {
  enrollments,
  mailServer,
  makeMailbox,
  makeOutreach,
  makeProspects,
  makeSequence,
  monday,
  pass,
  run,
} from '../fixtures/outreach.ts'
import { findByMessageIds, insertOutgoing } from '../messages/queries.ts'
import { planAll } from '../planning/plan-account.ts'
import { sendDue } from './engine.ts'
import { sendReplies } from './send-replies.ts'
import { finishSequences } from './settle-queries.ts'

const outreach = await makeOutreach()
const { app, clock } = outreach

const headerOf = (text: string, name: string) =>
  new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(text)?.[1]?.replaceAll(/\r\n[ \t]/g, ' ')

test('a prospect gets both steps, the second in the thread of the first, three days later', async (t) => {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, ['ann@globex.example'])
  const id = await makeSequence(account, [mailbox])
  await run(account, id, ['ann@globex.example'])
  await pass(outreach, 60)
  assert.equal(server.received.length, 1)
  const [first] = server.received
  assert.ok(first)
  assert.deepEqual([first.from, first.to], ['me@acme.example', 'ann@globex.example'])
  assert.equal(headerOf(first.text, 'Subject'), 'Hello ann')
  assert.match(first.text, /Dear ann of Globex\./)
  assert.match(first.text, /Acme SAS/)
  assert.match(first.text, /1 rue de la Paix/)
  assert.match(first.text, /Unsubscribe: http:\/\/test\/u\//)
  assert.match(headerOf(first.text, 'List-Unsubscribe') ?? '', /^<http:\/\/test\/u\/[^>]+>$/)
  assert.equal(headerOf(first.text, 'List-Unsubscribe-Post'), 'List-Unsubscribe=One-Click')
  assert.equal(headerOf(first.text, 'In-Reply-To'), undefined)
  assert.doesNotMatch(first.text, /<img|\/t\//)

  clock.now = new Date('2026-11-19T07:50:00Z')
  await pass(outreach, 180)
  assert.equal(server.received.length, 2)
  const second = server.received[1]?.text ?? ''
  assert.equal(headerOf(second, 'Subject'), 'Re: Hello ann')
  const messageId = headerOf(first.text, 'Message-ID')
  assert.ok(messageId)
  assert.deepEqual([headerOf(second, 'In-Reply-To'), headerOf(second, 'References')], [messageId, messageId])
  assert.match(second, /Acme SAS/)
  assert.deepEqual(
    (await enrollments(outreach, id)).map(({ state, next_step }) => [state, next_step]),
    [['finished', 2]],
  )
  const { body } = await account.call('GET', `/v3/outreach/campaigns/${id}/stats`)
  assert.deepEqual([body.enrolled, body.finished, body.sent, body.bounces], [1, 1, 2, 0])
  assert.deepEqual(
    body.steps,
    [1, 2].map((step) => ({ step, sent: 1 })),
  )
})

test('the plan that is shown is the one that is followed', async (t) => {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailboxes = [
    await makeMailbox(account, server.port, { email: 'a@acme.example' }),
    await makeMailbox(account, server.port, { email: 'b@acme.example' }),
  ]
  const people = Array.from({ length: 8 }, (_, n) => `p${n}@globex.example`)
  await makeProspects(account, people)
  const id = await makeSequence(account, mailboxes)
  await account.call('POST', `/v3/outreach/campaigns/${id}/enroll`, { emails: people })
  const { body } = await account.call('GET', `/v3/outreach/campaigns/${id}/plan`)
  assert.equal(body.count, 8)
  assert.equal(new Set(body.plan.map(({ mailboxId }: { mailboxId: number }) => mailboxId)).size, 2)
  const paged = await account.call('GET', `/v3/outreach/campaigns/${id}/plan?limit=3`)
  const rest = await account.call('GET', `/v3/outreach/campaigns/${id}/plan?cursor=${paged.body.next_cursor}`)
  assert.deepEqual([...paged.body.plan, ...rest.body.plan], body.plan)
  await account.call('POST', `/v3/outreach/campaigns/${id}/status`, { status: 'running' })
  await pass(outreach, 120, 1)
  const expected = body.plan.map((one: { email: string; mailbox: string }) => [one.mailbox, one.email])
  assert.deepEqual(
    server.received.map(({ from, to }) => [from, to]),
    expected,
  )
})

test('whoever unsubscribes by the link gets nothing more, in any sequence', async (t) => {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, ['bob@globex.example', 'eve@globex.example'])
  const [id, other] = [await makeSequence(account, [mailbox]), await makeSequence(account, [mailbox])]
  await run(account, id, ['bob@globex.example', 'eve@globex.example'])
  await pass(outreach, 60)
  const link = /<(http:\/\/test\/u\/[^>]+)>/.exec(
    server.received.find(({ to }) => to.startsWith('bob'))?.text ?? '',
  )
  const token = link?.[1]?.split('/').at(-1)
  const reply = await fetch(`${app.url}/u/${token}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  })
  assert.equal(reply.status, 200)
  const [bob] = await enrollments(outreach, id)
  assert.deepEqual([bob?.state, bob?.reason], ['stopped', 'unsubscribed'])
  const again = await account.call('POST', `/v3/outreach/campaigns/${other}/enroll`, {
    emails: ['bob@globex.example', 'eve@globex.example', 'nobody@globex.example', 'no address'],
  })
  assert.equal(again.body.enrolled, 1)
  assert.deepEqual(
    new Map(
      again.body.skipped.map((one: { prospect: string; reason: string }) => [one.prospect, one.reason]),
    ),
    new Map([
      ['no address', 'unknown'],
      ['bob@globex.example', 'unsubscribed'],
      ['nobody@globex.example', 'unknown'],
    ]),
  )
  clock.now = new Date('2026-11-19T08:00:00Z')
  await pass(outreach, 240)
  assert.equal(server.received.filter(({ to }) => to.startsWith('bob')).length, 1)
  assert.equal(server.received.filter(({ to }) => to.startsWith('eve')).length, 2)
  const { body } = await account.call('GET', `/v3/outreach/campaigns/${id}/stats`)
  assert.deepEqual([body.unsubscribes, body.stopped.reasons], [1, { unsubscribed: 1 }])
})

test('nothing is enrolled, runs or leaves without a legal identity', async (t) => {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, ['ann@globex.example'])
  const id = await makeSequence(account, [mailbox])
  await run(account, id, ['ann@globex.example'])
  await account.call('PUT', '/v3/outreach/identity', { postalAddress: '' })
  for (const [path, body] of [
    ['enroll', { emails: ['ann@globex.example'] }],
    ['status', { status: 'running' }],
  ] as const) {
    const reply = await account.call('POST', `/v3/outreach/campaigns/${id}/${path}`, body)
    assert.deepEqual([reply.status, reply.body.code], [422, 'legal_identity_missing'])
    assert.match(reply.body.message, /PUT \/v3\/outreach\/identity/)
  }
  await pass(outreach, 120)
  assert.equal(server.received.length, 0)
  await account.call('PUT', '/v3/outreach/identity', { postalAddress: '2 High Street' })
  await pass(outreach, 60)
  assert.equal(server.received.length, 1)
  assert.match(server.received[0]?.text ?? '', /2 High Street/)
})

test('an identity that is emptied after a step was planned stops its hand-over', async (t) => {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, ['ann@globex.example'])
  const id = await makeSequence(account, [mailbox])
  await run(account, id, ['ann@globex.example'])
  for (const end = clock.now.getTime() + 3_600_000; clock.now.getTime() < end; ) {
    await account.call('PUT', '/v3/outreach/identity', { companyName: 'Acme SAS' })
    await planAll(outreach.engine.db, clock.now)
    await account.call('PUT', '/v3/outreach/identity', { companyName: '' })
    clock.now = new Date(clock.now.getTime() + 300_000)
    await sendDue(outreach.engine)
  }
  assert.equal(server.received.length, 0)
  assert.deepEqual(
    (await enrollments(outreach, id)).map(({ state, next_step }) => [state, next_step]),
    [['active', 0]],
  )
})

test('what a test key starts does not leave the machine', async (t) => {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, ['ann@globex.example'])
  const id = await makeSequence(account, [mailbox])
  const { key } = await app.makeKey({ mode: 'test' }, account.accountId)
  const call: typeof account.call = (method, path, body) => app.call(method, path, { key, body })
  await run({ ...account, key, call }, id, ['ann@globex.example'])
  await pass(outreach, 60)
  assert.equal(server.received.length, 0)
  const { body } = await call('GET', '/api/v1/sandbox/messages')
  assert.deepEqual([body.data.length, body.data[0]?.subject], [1, 'Hello ann'])
})

test('an answer that a person wrote leaves once, in its thread, beside the caps', async (t) => {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailboxId = String(await makeMailbox(account, server.port))
  const { id, messageId } = newMessageId('acme.example')
  await insertOutgoing(app.pools.db, {
    accountId: account.accountId,
    id,
    sequenceId: null,
    prospectId: null,
    mailboxId,
    step: null,
    messageId,
    recipient: 'ann@globex.example',
    subject: 'Re: Hello',
    text: 'With pleasure.',
    refs: ['<one@acme.example>', '<two@globex.example>'],
    state: 'queued',
    at: clock.now,
  })
  await Promise.all([sendReplies(outreach.engine), sendReplies(outreach.engine)])
  await sendReplies(outreach.engine)
  assert.equal(server.received.length, 1)
  const text = server.received[0]?.text ?? ''
  assert.equal(headerOf(text, 'In-Reply-To'), '<two@globex.example>')
  assert.equal(headerOf(text, 'References'), '<one@acme.example> <two@globex.example>')
  assert.match(text, /With pleasure\./)
  const [found] = await findByMessageIds(app.pools.db, account.accountId, [messageId])
  assert.equal(found?.state, 'sent')
  const { body } = await account.call('GET', `/v3/outreach/mailboxes/${mailboxId}`)
  assert.equal(body.health.sentToday, 1)
})

test('a sequence with nobody left is finished, and runs again for those who come later', async (t) => {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, ['ann@globex.example', 'bob@globex.example'])
  const id = await makeSequence(account, [mailbox], { steps: [{ subject: 'Hello', text: 'Hello.' }] })
  await run(account, id, ['ann@globex.example'])
  await pass(outreach, 60)
  const status = async () => (await account.call('GET', `/v3/outreach/campaigns/${id}`)).body.status
  assert.equal(await status(), 'running')
  await finishSequences(app.pools.db, clock.now)
  assert.equal(await status(), 'finished')
  await account.call('POST', `/v3/outreach/campaigns/${id}/enroll`, { emails: ['bob@globex.example'] })
  assert.equal(await status(), 'running')
  await pass(outreach, 60)
  assert.deepEqual(
    server.received.map(({ to }) => to),
    ['ann@globex.example', 'bob@globex.example'],
  )
})

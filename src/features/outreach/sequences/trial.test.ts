// A sequence that a test key tried in the sandbox, and what it is when a live one starts it.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { stopProspect } from '../enrollments/stop-enrollments.ts'
import {
  type Account,
  mailServer,
  makeMailbox,
  makeOutreach,
  makeProspects,
  makeSequence,
  monday,
  pass,
  run,
} from '../fixtures/outreach.ts'
import { parseMail } from '../reading/parse-mail.ts'
import { finishSequences } from '../sending/settle-queries.ts'
import { takeMail } from '../watching/take-mail.ts'

const outreach = await makeOutreach()
const { app, clock } = outreach
const [ann, bob] = ['ann@globex.example', 'bob@globex.example']

beforeEach(() => {
  clock.now = monday
})

const headerOf = (text: string, name: string) =>
  new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(text)?.[1]?.replaceAll(/\r\n[ \t]/g, ' ')

async function asTester(account: Account): Promise<Account> {
  const { key } = await app.makeKey({ mode: 'test' }, account.accountId)
  return { ...account, key, call: (method, path, body) => app.call(method, path, { key, body }) }
}

test('who had a step in the sandbox begins with the first one when the sequence is started for real', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, [ann, bob])
  const long = await makeSequence(account, [mailbox])
  const short = await makeSequence(account, [mailbox], { steps: [{ subject: 'Short', text: 'Hello.' }] })
  const tester = await asTester(account)
  await run(tester, long, [ann])
  await run(tester, short, [bob])
  await pass(outreach, 60)
  await finishSequences(app.pools.db, clock.now)
  assert.equal(server.received.length, 0)
  for (const id of [long, short]) {
    const started = await account.call('POST', `/v3/outreach/campaigns/${id}/status`, { status: 'running' })
    assert.equal(started.status, 200, started.text)
    const { body } = await account.call('GET', `/v3/outreach/campaigns/${id}/stats`)
    assert.deepEqual([body.sent, body.active, body.finished], [0, 1, 0])
  }
  await pass(outreach, 90)
  const subjects = () => server.received.map(({ text }) => headerOf(text, 'Subject'))
  assert.deepEqual(subjects().sort(), ['Hello ann', 'Short'])
  await pass(outreach, 4 * 24 * 60, 30)
  assert.deepEqual(subjects().slice(2), ['Re: Hello ann'])
  const [first, followUp] = server.received.filter(({ to }) => to === ann).map(({ text }) => text)
  assert.equal(headerOf(followUp ?? '', 'References'), headerOf(first ?? '', 'Message-ID'))
})

test('who was taken out of the trial comes back to its first step, and who has said no since does not', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  const [, bobId = 0] = await makeProspects(account, [ann, bob])
  const long = await makeSequence(account, [mailbox])
  const short = await makeSequence(account, [mailbox], { steps: [{ subject: 'Short', text: 'Hello.' }] })
  const other = await makeSequence(account, [mailbox], { name: 'Other' })
  const tester = await asTester(account)
  await run(tester, long, [ann])
  await run(tester, short, [bob])
  await pass(outreach, 60)
  await finishSequences(app.pools.db, clock.now)
  const post = (path: string, body: unknown) => account.call('POST', `/v3/outreach/campaigns/${path}`, body)
  await post(`${long}/unenroll`, { emails: [ann] })
  await post(`${other}/enroll`, { emails: [bob] })
  const ref = { accountId: account.accountId, prospectId: String(bobId) }
  await stopProspect(app.pools.db, ref, 'refused', clock.now)
  for (const id of [long, short]) await post(`${id}/status`, { status: 'running' })
  assert.equal((await post(`${long}/enroll`, { emails: [ann], again: true })).body.enrolled, 1)
  await pass(outreach, 90)
  const subjects = server.received.map(({ text }) => headerOf(text, 'Subject'))
  assert.deepEqual(subjects, ['Hello ann'])
})

test('a mailbox is not known for what went to the sandbox, which takes places of its day all the same', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port, { dailyLimit: 31, ramp: true })
  const emails = Array.from({ length: 12 }, (_, n) => `p${n}@globex.example`)
  await makeProspects(account, emails)
  const tester = await asTester(account)
  await run(tester, await makeSequence(account, [mailbox]), emails)
  await pass(outreach, 9 * 60)
  const { body: taken } = await tester.call('GET', '/api/v1/sandbox/messages?limit=100')
  assert.equal(taken.data.length, 10)
  const read = async () => (await account.call('GET', `/v3/outreach/mailboxes/${mailbox}`)).body
  assert.equal((await read()).health.sentToday, 0)
  clock.now = new Date(monday.getTime() + 21 * 86_400_000)
  assert.equal((await read()).limitToday, 10)
})

test('mail of somebody who was written to in the sandbox alone is the mailbox owner\u2019s', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, [ann])
  await run(await asTester(account), await makeSequence(account, [mailbox]), [ann])
  await pass(outreach, 60)
  for (const from of [ann, 'carl@globex.example']) {
    const head = [`From: <${from}>`, 'Subject: Hello ann', `Message-ID: <of-${from}>`]
    const mail = await parseMail(Buffer.from([...head, '', 'Lunch tomorrow?'].join('\r\n')))
    assert.ok(mail)
    const into = { accountId: account.accountId, mailboxId: String(mailbox), mailboxEmail: 'me@acme.example' }
    assert.equal(await takeMail(app.pools.db, { ...into, mail, receivedAt: clock.now, at: clock.now }), false)
  }
  assert.equal((await account.call('GET', '/v3/outreach/inbox')).body.count, 0)
})

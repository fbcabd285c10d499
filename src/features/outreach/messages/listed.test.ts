// Messages of mailboxes among all the others of an account.
import assert from 'node:assert/strict'
import { test } from 'node:test'
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

const outreach = await makeOutreach()
const { app, clock } = outreach
const [ann, bob, carl] = ['ann@globex.example', 'bob@globex.example', 'carl@globex.example']

type Listed = { id: string; to: string; status: string }

const list = async ({ call }: Pick<Account, 'call'>, query = '') =>
  (await call('GET', `/api/v1/messages?${query}`)).body
const listed = async (account: Pick<Account, 'call'>, query = '') =>
  (await list(account, query)).data.map(({ to, status }: Listed) => [to, status])

test('are listed by their time with the others, page by page and by filters', async (t) => {
  clock.now = monday
  const server = await mailServer(t, {
    on: (command) => (command.startsWith(`RCPT TO:<${bob}`) ? '550 5.1.1 no such user' : undefined),
  })
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, [ann, bob])
  await run(account, await makeSequence(account, [mailbox]), [ann, bob])
  await pass(outreach, 120)
  const queued = await account.call('POST', '/v3/smtp/email', {
    sender: { email: 'shop@simulator.example' },
    to: [{ email: carl }],
    subject: 'Order',
    textContent: 'x',
  })
  assert.equal(queued.status, 201, queued.text)
  const all = await listed(account)
  assert.deepEqual(all, [
    [carl, 'queued'],
    [bob, 'failed'],
    [ann, 'sent'],
  ])
  const pages: string[] = []
  let cursor = ''
  do {
    const { data, next_cursor } = await list(account, `limit=1${cursor && `&cursor=${cursor}`}`)
    pages.push(...data.map(({ to }: Listed) => to))
    cursor = next_cursor ?? ''
  } while (cursor)
  assert.deepEqual(
    pages,
    all.map(([to]: string[]) => to),
  )
  assert.deepEqual(await listed(account, 'status=failed'), [[bob, 'failed']])
  assert.deepEqual(await listed(account, `to=ANN@globex.example&status=sent`), [[ann, 'sent']])
  for (const query of ['tag=x', `to=${ann}&status=held`]) assert.deepEqual(await listed(account, query), [])

  await account.call('DELETE', `/v3/outreach/mailboxes/${mailbox}`)
  const [{ id }] = (await list(account, `to=${ann}`)).data
  const { body } = await account.call('GET', `/api/v1/messages/${id}`)
  assert.deepEqual(
    [body.source, body.from, body.to, body.subject, body.attempts, body.last_error, body.events],
    ['outreach', 'Max <me@acme.example>', ann, 'Hello ann', 1, null, []],
  )
  const failed = (await list(account, `to=${bob}`)).data[0]
  const error = { code: 'unknown_user', smtp_code: 550, enhanced_code: '5.1.1', message: 'no such user' }
  assert.deepEqual(failed.last_error, error)
  const [bounce, ...others] = (await account.call('GET', `/api/v1/messages/${failed.id}`)).body.events
  assert.deepEqual([bounce.type, bounce.bounce_type, bounce.smtp_code], ['bounce', 'hard', 550])
  assert.deepEqual([bounce.enhanced_code, bounce.reason, others], ['5.1.1', 'no such user', []])
  const [suppressed] = (await account.call('GET', `/api/v1/suppressions?email=${bob}`)).body.data
  assert.deepEqual([suppressed.reason, suppressed.message_id], ['hard_bounce', failed.id])
  const other = await outreach.makeAccount()
  assert.equal((await other.call('GET', `/api/v1/messages/${id}`)).status, 404)
  assert.deepEqual(await listed(other), [])
})

test('one of the sandbox is read by the identifier that it has there', async (t) => {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, [ann])
  const { key } = await app.makeKey({ mode: 'test' }, account.accountId)
  const call: Account['call'] = (method, path, body) => app.call(method, path, { key, body })
  await run({ ...account, call }, await makeSequence(account, [mailbox]), [ann])
  await pass(outreach, 60)
  const [captured] = (await call('GET', '/api/v1/sandbox/messages')).body.data
  const { status, body } = await call('GET', `/api/v1/messages/${captured.message_id}`)
  assert.deepEqual([status, body.source, body.status], [200, 'outreach', 'sent'])
})

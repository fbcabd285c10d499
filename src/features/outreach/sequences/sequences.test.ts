// What a sequence does when its mailboxes or steps are taken from it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postponeEnrollment } from '../enrollments/stop-enrollments.ts'
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
  steps,
} from '../fixtures/outreach.ts'

const outreach = await makeOutreach()
const { clock, engine } = outreach
const dayMs = 86_400_000
const [ann, bob] = ['ann@globex.example', 'bob@globex.example']

const noticesOf = async ({ call }: Account) => (await call('GET', '/api/v1/notices?open=true')).body.data

test('a running sequence whose last mailbox is deleted rests, and the account is told', async (t) => {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailboxes = [
    await makeMailbox(account, server.port),
    await makeMailbox(account, server.port, { email: 'you@acme.example' }),
  ]
  await makeProspects(account, [ann, bob])
  const id = await makeSequence(account, mailboxes)
  await run(account, id, [ann, bob])
  const path = `/v3/outreach/campaigns/${id}`
  const read = async () => {
    const { body } = await account.call('GET', path)
    return [body.status, body.pausedReason, body.mailboxIds.length]
  }
  assert.deepEqual(await read(), ['running', null, 2])
  const remove = (mailbox?: number) => account.call('DELETE', `/v3/outreach/mailboxes/${mailbox}`)
  assert.equal((await remove(mailboxes[0])).status, 204)
  assert.deepEqual(await read(), ['running', null, 1])
  assert.equal((await remove(mailboxes[1])).status, 204)
  assert.deepEqual(await read(), ['paused', 'mailbox_deleted', 0])
  const [notice] = await noticesOf(account)
  assert.deepEqual([notice.code, notice.subject], ['sequence_paused', String(id)])
  assert.match(notice.message, /you@acme\.example/)
  const move = (status: string) => account.call('POST', `${path}/status`, { status })
  assert.equal((await move('running')).status, 400)

  const other = await makeMailbox(account, server.port, { email: 'they@acme.example' })
  await account.call('PUT', path, { mailboxIds: [other] })
  assert.equal((await move('running')).status, 200)
  assert.deepEqual(await read(), ['running', null, 1])
  assert.deepEqual(await noticesOf(account), [])
  await pass(outreach, 120)
  assert.equal(server.received.length, 2)
  await move('paused')
  assert.deepEqual(await read(), ['paused', 'manual', 1])
})

test('a name can be changed, but not to none', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const id = await makeSequence(account, [await makeMailbox(account, server.port)])
  const path = `/v3/outreach/campaigns/${id}`
  for (const name of ['', '  ']) {
    const { status, body } = await account.call('PUT', path, { name })
    assert.deepEqual([status, body.code, body.message], [400, 'missing_parameter', 'name is missing'])
  }
  assert.equal((await account.call('PUT', path, { name: null })).status, 204)
  assert.equal((await account.call('PUT', path, { name: 'Second' })).status, 204)
  assert.equal((await account.call('GET', path)).body.name, 'Second')
})

test('one that had finished and has no mailbox left takes nobody', async (t) => {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, [ann, bob])
  const id = await makeSequence(account, [mailbox])
  await run(account, id, [ann])
  const path = `/v3/outreach/campaigns/${id}`
  await account.call('POST', `${path}/status`, { status: 'finished' })
  await account.call('DELETE', `/v3/outreach/mailboxes/${mailbox}`)
  const reply = await account.call('POST', `${path}/enroll`, { emails: [bob] })
  assert.deepEqual([reply.status, /no mailbox left/.test(reply.text)], [400, true])
})

test('steps that are taken out are neither foreseen nor sent', async (t) => {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, [ann])
  const id = await makeSequence(account, [mailbox])
  await run(account, id, [ann])
  await pass(outreach, 120)
  assert.equal(server.received.length, 1)
  const path = `/v3/outreach/campaigns/${id}`
  const foreseen = async () => (await account.call('GET', `${path}/plan`)).body.count
  const move = (status: string) => account.call('POST', `${path}/status`, { status })
  const stateOf = async () => (await enrollments(outreach, id))[0]?.state
  await move('paused')
  await account.call('PUT', path, { steps: steps.slice(0, 1) })
  assert.equal(await foreseen(), 0)
  // Whoever takes them out by mistake can put them back.
  await account.call('PUT', path, { steps })
  assert.deepEqual([await foreseen(), await stateOf()], [1, 'active'])
  await account.call('PUT', path, { steps: steps.slice(0, 1) })
  await move('running')
  assert.deepEqual([await foreseen(), await stateOf()], [0, 'finished'])
  clock.now = new Date(monday.getTime() + 4 * 86_400_000)
  await pass(outreach, 120)
  assert.equal(server.received.length, 1)
})

test('a step whose HTML would hide the footer is refused, and not sent where its prospect makes it so', async (t) => {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, [ann, bob])
  const withHtml = (html: string) => ({
    name: 'Second',
    mailboxIds: [mailbox],
    steps: [{ subject: 'Hello', html }],
  })
  const refused = await account.call('POST', '/v3/outreach/campaigns', withHtml('<p>Hello</p><textarea>'))
  assert.equal(refused.status, 400)
  assert.match(refused.body.message, /^steps\[0\]\.html .*<textarea> is never closed/)
  const html = '<p>Hello</p>{% if firstName == "ann" %}<!--{% endif %}'
  const id = await makeSequence(account, [mailbox], withHtml(html))
  await run(account, id, [ann, bob])
  await pass(outreach, 120)
  assert.deepEqual(
    server.received.map(({ to }) => to),
    [bob],
  )
})

test('a changed delay counts from the step before for who waits already; who is away rests as long', async (t) => {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, [ann, bob])
  const id = await makeSequence(account, [mailbox])
  await run(account, id, [ann, bob])
  await pass(outreach, 120)
  const before = await enrollments(outreach, id)
  const leftAt = before.map(({ due_at }) => due_at.getTime() - 3 * dayMs)
  const away = new Date(monday.getTime() + 10 * dayMs)
  const [sequenceId, prospectId] = [String(id), before[1]?.prospect_id ?? '']
  await postponeEnrollment(engine.db, { accountId: account.accountId, sequenceId, prospectId }, away)

  const path = `/v3/outreach/campaigns/${id}`
  const [first, second] = steps
  assert.equal((await account.call('POST', `${path}/status`, { status: 'paused' })).status, 200)
  const daysAfter = async (delayDays: number) => {
    const reply = await account.call('PUT', path, { steps: [first, { ...second, delayDays }] })
    assert.equal(reply.status, 204)
    return (await enrollments(outreach, id)).map(({ due_at }, n) =>
      Math.round((due_at.getTime() - (leftAt[n] ?? 0)) / dayMs),
    )
  }
  assert.deepEqual(await daysAfter(7), [7, 10])
  assert.deepEqual(await daysAfter(1), [1, 10])
  assert.deepEqual(await daysAfter(12), [12, 12])
  assert.deepEqual(await daysAfter(1), [1, 10])

  clock.now = new Date(monday.getTime() + dayMs)
  await account.call('POST', `${path}/status`, { status: 'running' })
  await pass(outreach, 240)
  assert.equal(server.received.length, 3)
})

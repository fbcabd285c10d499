// The operations: who may call them, what they refuse, what they never tell.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { welcomingImap } from '../../../test/stand-ins/welcoming-imap.ts'
import { text as column, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
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
  schedule,
  serverAt,
  steps,
} from './fixtures/outreach.ts'

const outreach = await makeOutreach()
const { app, clock } = outreach
const { db } = app.pools

test('every operation refuses an account without the module', async () => {
  const { key } = await app.makeAccount()
  const own = app.operations.filter(({ path }) => path.startsWith('/v3/outreach/'))
  assert.ok(own.length >= 23)
  for (const { method, path } of own) {
    const body = method === 'GET' ? undefined : {}
    const reply = await app.call(method, path.replace('{id}', '1'), { key, body })
    assert.deepEqual([reply.status, reply.body.code], [403, 'module_disabled'], `${method} ${path}`)
  }
})

test('an identity is empty until it is declared, and one field can be changed alone', async () => {
  const { key } = await app.makeAccount()
  await app.call('PUT', '/api/v1/settings', { key, body: { outreach_enabled: true } })
  const read = async () => (await app.call('GET', '/v3/outreach/identity', { key })).body
  assert.deepEqual(await read(), { companyName: '', postalAddress: '' })
  await app.call('PUT', '/v3/outreach/identity', {
    key,
    body: { companyName: 'A\r\nB', postalAddress: 'x' },
  })
  await app.call('PUT', '/v3/outreach/identity', { key, body: { postalAddress: 'One\nTwo' } })
  assert.deepEqual(await read(), { companyName: 'A B', postalAddress: 'One\nTwo' })
})

test('a mailbox is logged in to when it is declared; its secrets are told to nobody', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const imap = serverAt(await welcomingImap())
  const declare = (smtp: object, email = 'me@acme.example') =>
    account.call('POST', '/v3/outreach/mailboxes', { email, smtp, imap })
  const brokenAt = async (smtp: object, email: string) => {
    const path = `/v3/outreach/mailboxes/${(await declare(smtp, email)).body.id}`
    const { body } = await account.call('GET', path)
    assert.deepEqual([body.state, body.pausedReason, body.health.state], ['paused', 'login', 'failing'])
    return { path, error: body.health.lastError }
  }
  const wrong = await brokenAt(serverAt(server.port, 'geheim'), 'wrong@acme.example')
  assert.match(wrong.error, /SMTP.*535.*wrong password/)
  assert.equal((await account.call('PUT', wrong.path, { smtp: serverAt(server.port) })).status, 204)
  const mended = (await account.call('GET', wrong.path)).body
  assert.deepEqual([mended.state, mended.health.state, mended.health.lastError], ['active', 'ok', null])
  const nowhere = await brokenAt(serverAt(1), 'nowhere@acme.example')
  assert.match(nowhere.error, /nothing listens there/)
  assert.equal((await declare({ ...serverAt(server.port), port: 0 })).status, 400)
  assert.equal((await declare({ ...serverAt(server.port), host: 'a b' })).status, 400)
  assert.equal((await declare({ ...serverAt(server.port), password: '' })).body.code, 'missing_parameter')
  const id = await makeMailbox(account, server.port, { dailyLimit: 40, ramp: true })
  assert.equal((await declare(serverAt(server.port))).status, 400)
  const deaf = await account.call('PUT', `/v3/outreach/mailboxes/${id}`, { imap: { password: 'geheim' } })
  assert.match(deaf.body.message, /IMAP.*refused the login/)
  const { body, text } = await account.call('GET', `/v3/outreach/mailboxes/${id}`)
  assert.deepEqual(body.health, {
    state: 'ok',
    sentToday: 0,
    dailyLimit: 40,
    bounceRate: 0,
    complaints: 0,
    lastSyncAt: null,
    lastError: null,
  })
  assert.deepEqual([body.dailyLimit, body.limitToday, body.state], [40, 10, 'active'])
  assert.deepEqual(body.smtp, { host: '127.0.0.1', port: server.port, secure: false, user: 'me' })
  assert.doesNotMatch(text, /right|password/)
  const log = await account.call('GET', '/api/v1/audit')
  assert.doesNotMatch(log.text, /geheim|right/)
  const Row = row<{ all: string }>({ all: column })
  const stored = await db.many(Row, sql`select m::text as all from outreach_mailboxes m where id = ${id}`)
  assert.doesNotMatch(stored[0]?.all ?? 'right', /right/)
})

test('a change of a mailbox keeps what is not given, and a bad one is refused whole', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const id = await makeMailbox(account, server.port)
  const path = `/v3/outreach/mailboxes/${id}`
  assert.equal((await account.call('PUT', path, { smtp: { password: 'bad' } })).status, 400)
  assert.equal((await account.call('PUT', path, { email: 'other@acme.example' })).status, 400)
  assert.equal((await account.call('PUT', path, { dailyLimit: 0 })).status, 400)
  assert.equal((await account.call('PUT', path, { name: 'Moritz', smtp: { user: 'you' } })).status, 204)
  const { body } = await account.call('GET', path)
  assert.deepEqual([body.name, body.smtp.user, body.smtp.port], ['Moritz', 'you', server.port])
  const tested = await account.call('POST', `${path}/test`)
  assert.deepEqual(tested.body.smtp, { ok: true, error: null })
  const logins = server.peers.length
  for (const kind of ['smtp', 'imap']) {
    const elsewhere = await account.call('PUT', path, { [kind]: { host: 'localhost', port: server.port } })
    assert.deepEqual([elsewhere.status, elsewhere.body.code], [400, 'missing_parameter'])
    assert.match(elsewhere.body.message, /a new host needs it again/)
  }
  assert.equal(server.peers.length, logins, 'a stored password went to another host')
  const other = await outreach.makeAccount()
  assert.equal((await other.call('GET', path)).status, 404)
  assert.equal((await other.call('DELETE', path)).status, 404)
  assert.equal((await account.call('GET', '/v3/outreach/mailboxes/99999999999999999999')).status, 400)
})

test('prospects are added one by one or many, known ones are updated, bad rows are told', async () => {
  const account = await outreach.makeAccount()
  const add = (body: object) => account.call('POST', '/v3/outreach/prospects', body)
  const first = await add({ email: 'Ann@Globex.example', firstName: 'Ann', attributes: { role: 'CTO' } })
  assert.equal(first.status, 201)
  const again = await add({ email: 'ann@globex.example', company: 'Globex', attributes: { city: 'Paris' } })
  assert.deepEqual([again.status, again.body.id], [200, first.body.id])
  const { body } = await account.call('GET', `/v3/outreach/prospects/${first.body.id}`)
  assert.deepEqual(
    [body.firstName, body.company, body.attributes],
    ['Ann', 'Globex', { role: 'CTO', city: 'Paris' }],
  )
  const many = await add({
    prospects: [{ email: 'bob@globex.example' }, { email: 'no' }, {}, { email: 'ann@globex.example' }],
  })
  assert.deepEqual([many.body.created, many.body.updated, many.body.skipped], [1, 1, 2])
  assert.deepEqual(
    many.body.results.map((one: { outcome: string; reason?: string }) => [one.outcome, one.reason]),
    [
      ['created', undefined],
      ['skipped', 'email is not valid'],
      ['skipped', 'email is missing'],
      ['updated', undefined],
    ],
  )
  assert.equal((await add({ email: 'no' })).status, 400)
  assert.equal(
    (await add({ prospects: Array.from({ length: 1001 }, () => ({ email: 'a@b.example' })) })).status,
    400,
  )
  const found = await account.call('GET', '/v3/outreach/prospects?email=BOB@globex.example')
  assert.deepEqual([found.body.count, found.body.prospects.length], [1, 1])
  const page = await account.call('GET', '/v3/outreach/prospects?limit=1')
  const next = await account.call('GET', `/v3/outreach/prospects?limit=1&cursor=${page.body.next_cursor}`)
  assert.notEqual(page.body.prospects[0].id, next.body.prospects[0].id)
  const nobody = await account.call('POST', '/v3/outreach/prospects', {})
  assert.deepEqual([nobody.status, nobody.body.code], [400, 'missing_parameter'])
  for (const limit of [0, 201])
    assert.equal((await account.call('GET', `/v3/outreach/prospects?limit=${limit}`)).status, 400)
})

test('a bulk deletion needs a confirmation, and ends the sequences of those it deletes', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  const [ann] = await makeProspects(account, ['ann@globex.example', 'bob@globex.example'])
  const id = await makeSequence(account, [mailbox])
  await run(account, id, ['ann@globex.example', 'bob@globex.example'])
  const remove = (body: object) => account.call('DELETE', '/v3/outreach/prospects', body)
  for (const confirm of [undefined, 'true', 1]) {
    const refused = await remove({ ids: [ann], confirm })
    assert.deepEqual([refused.status, refused.body.code], [422, 'confirmation_required'])
  }
  assert.equal((await remove({ confirm: true })).status, 400)
  const other = await outreach.makeAccount()
  assert.deepEqual(
    (await other.call('DELETE', '/v3/outreach/prospects', { ids: [ann], confirm: true })).body,
    {
      deleted: 0,
    },
  )
  assert.deepEqual((await remove({ ids: [ann], emails: ['x@y.example'], confirm: true })).body, {
    deleted: 1,
  })
  assert.equal((await enrollments(outreach, id)).length, 1)
})

test('a sequence is refused with what is wrong in it', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  const theirs = await makeMailbox(await outreach.makeAccount(), server.port)
  const good = { name: 'x', mailboxIds: [mailbox], steps, schedule }
  const cases: [change: object, says: RegExp][] = [
    [{ name: '' }, /name/],
    [{ mailboxIds: [] }, /mailboxIds/],
    [{ mailboxIds: [theirs] }, /no mailbox/],
    [{ steps: [] }, /steps/],
    [{ steps: [{ text: 'no subject' }] }, /subject is missing in steps\[0\]/],
    [{ steps: [{ subject: 'no text' }] }, /text is missing/],
    [{ steps: [{ subject: '{{ x', text: 'x' }] }, /steps\[0\]\.subject/],
    [{ steps: [{ subject: 'x', text: 'x', delayDays: -1 }] }, /delayDays/],
    [{ schedule: { ...schedule, timezone: 'Mars/Olympus' } }, /timezone/],
    [{ schedule: { ...schedule, days: [0] } }, /days/],
    [{ schedule: { ...schedule, from: '18:00', to: '09:00' } }, /from/],
    [{ dailyLimit: 0 }, /dailyLimit/],
  ]
  for (const [change, says] of cases) {
    const { status, body } = await account.call('POST', '/v3/outreach/campaigns', { ...good, ...change })
    assert.equal(status, 400, JSON.stringify(change))
    assert.match(body.message, says)
  }
})

test('a sequence moves as its states allow; what runs is not changed under way', async (t) => {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, ['ann@globex.example'])
  const id = await makeSequence(account, [mailbox])
  const path = `/v3/outreach/campaigns/${id}`
  const move = async (status: string) => (await account.call('POST', `${path}/status`, { status })).status
  assert.equal(await move('paused'), 400)
  await run(account, id, ['ann@globex.example'])
  assert.equal((await account.call('PUT', path, { steps })).status, 400)
  assert.equal((await account.call('PUT', path, { name: 'Other' })).status, 204)
  assert.equal((await account.call('DELETE', path)).status, 400)
  assert.equal(await move('paused'), 200)
  assert.equal((await account.call('PUT', path, { steps: steps.slice(0, 1) })).status, 204)
  await pass(outreach, 30)
  assert.equal(server.received.length, 0)
  assert.equal(await move('stopped'), 200)
  assert.deepEqual(
    (await enrollments(outreach, id)).map(({ state, reason }) => [state, reason]),
    [['stopped', 'sequence_stopped']],
  )
  assert.equal(await move('running'), 400)
  assert.equal((await account.call('POST', `${path}/enroll`, { emails: ['ann@globex.example'] })).status, 400)
  const listed = await account.call('GET', '/v3/outreach/campaigns?status=stopped')
  assert.deepEqual([listed.body.count, listed.body.campaigns[0].name], [1, 'Other'])
  assert.equal((await account.call('DELETE', path)).status, 204)
  assert.equal((await account.call('GET', path)).status, 404)
})

test('thousands are enrolled in one call, each once', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  const emails = Array.from({ length: 3000 }, (_, n) => `p${n}@globex.example`)
  for (let at = 0; at < emails.length; at += 1000) await makeProspects(account, emails.slice(at, at + 1000))
  await account.call('POST', '/api/v1/suppressions', { email: 'p7@globex.example' })
  const id = await makeSequence(account, [mailbox])
  const enrol = () => account.call('POST', `/v3/outreach/campaigns/${id}/enroll`, { emails })
  const { body } = await enrol()
  assert.equal(body.enrolled, 2999)
  assert.deepEqual(body.skipped, [{ prospect: 'p7@globex.example', reason: 'suppressed' }])
  const again = await enrol()
  assert.deepEqual([again.body.enrolled, again.body.skipped.length], [0, 3000])
  const plan = await account.call('GET', `/v3/outreach/campaigns/${id}/plan`)
  assert.ok(plan.body.count >= 120 && plan.body.count <= 210, String(plan.body.count))
})

test('a person who is erased is gone from outreach, and stays out of it', async (t) => {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, ['ann@globex.example'])
  const id = await makeSequence(account, [mailbox])
  await run(account, id, ['ann@globex.example'])
  await pass(outreach, 60)
  const told = (await account.call('GET', '/api/v1/contacts/export?email=ann@globex.example')).body
  assert.deepEqual(
    [told.prospect.email, told.enrollments.length, told.outreach_messages.length],
    ['ann@globex.example', 1, 1],
  )
  const { body } = await account.call('POST', '/api/v1/contacts/erase', {
    email: 'ann@globex.example',
    confirm: true,
  })
  assert.deepEqual([body.erased.prospect, body.erased.enrollments, body.erased.outreach_messages], [1, 1, 1])
  await makeProspects(account, ['ann@globex.example'])
  const again = await account.call('POST', `/v3/outreach/campaigns/${id}/enroll`, {
    emails: ['ann@globex.example'],
  })
  assert.deepEqual(again.body.skipped, [{ prospect: 'ann@globex.example', reason: 'erased' }])
})

test('who is added while somebody else deletes them is there in the end, or was', async () => {
  const account = await outreach.makeAccount()
  const email = 'often@globex.example'
  const add = async () =>
    assert.match(String((await account.call('POST', '/v3/outreach/prospects', { email })).status), /^20[01]$/)
  const remove = () => account.call('DELETE', '/v3/outreach/prospects', { emails: [email], confirm: true })
  for (let round = 0; round < 25; round++) await Promise.all([add(), remove(), add(), remove(), add()])
})

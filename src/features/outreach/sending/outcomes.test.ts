import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MailboxSender } from '../../../kernel/mailbox-ports.ts'
import { int, row } from '../../../kernel/row.ts'
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
} from '../fixtures/outreach.ts'
import { planAll } from '../planning/plan-account.ts'
import { sendDue, settleOpen } from './engine.ts'

const outreach = await makeOutreach()
const { clock, engine } = outreach
const { db } = engine

const people = (count: number) => Array.from({ length: count }, (_, n) => `p${n}@globex.example`)

/** One sequence that runs, on one mailbox. */
async function running(port: number, emails: string[], more: { mailbox?: object; sequence?: object } = {}) {
  clock.now = monday
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, port, more.mailbox)
  await makeProspects(account, emails)
  const id = await makeSequence(account, [mailbox], more.sequence)
  await run(account, id, emails)
  return { account, mailbox, id }
}

const healthOf = async (account: Account, id: number) =>
  (await account.call('GET', `/v3/outreach/mailboxes/${id}`)).body

const statesOf = async (id: number) =>
  (await enrollments(outreach, id)).map(({ state, reason, next_step }) => [state, reason, next_step])

test('a dead address is suppressed, and its sequence ends', async (t) => {
  const server = await mailServer(t, {
    on: (command) => (command.startsWith('RCPT TO:<p0') ? '550 5.1.1 no such user' : undefined),
  })
  const { account, id } = await running(server.port, people(2))
  await pass(outreach, 90)
  assert.deepEqual(
    server.received.map(({ to }) => to),
    ['p1@globex.example'],
  )
  assert.deepEqual(await statesOf(id), [
    ['stopped', 'bounced', 1],
    ['active', null, 1],
  ])
  const { body } = await account.call('GET', '/api/v1/suppressions')
  assert.deepEqual(
    body.data.map((one: { email: string; reason: string }) => [one.email, one.reason]),
    [['p0@globex.example', 'hard_bounce']],
  )
  const stats = await account.call('GET', `/v3/outreach/campaigns/${id}/stats`)
  assert.deepEqual([stats.body.bounces, stats.body.sent], [1, 1])
})

test('a wrong password pauses the mailbox with what the server said; the step waits for it', async (t) => {
  let isRight = true
  const server = await mailServer(t, {
    on: (command) => (command.startsWith('AUTH') && !isRight ? '535 5.7.8 password expired' : undefined),
  })
  const { account, mailbox, id } = await running(server.port, ['ann@globex.example'])
  isRight = false
  await pass(outreach, 60)
  const paused = await healthOf(account, mailbox)
  assert.deepEqual([paused.state, paused.pausedReason, paused.health.state], ['paused', 'login', 'failing'])
  assert.match(paused.health.lastError, /password expired/)
  assert.equal(paused.health.sentToday, 0)
  assert.deepEqual(await statesOf(id), [['active', null, 0]])
  const notices = await account.call('GET', '/api/v1/notices?open=true')
  assert.deepEqual(
    [notices.body.data[0].code, notices.body.data[0].subject],
    ['mailbox_paused', 'me@acme.example'],
  )

  isRight = true
  assert.equal(
    (await account.call('PUT', `/v3/outreach/mailboxes/${mailbox}`, { state: 'active' })).status,
    204,
  )
  await pass(outreach, 60)
  assert.equal(server.received.length, 1)
  const well = await healthOf(account, mailbox)
  assert.deepEqual([well.health.state, well.health.sentToday, well.health.lastError], ['ok', 1, null])
  assert.equal((await account.call('GET', '/api/v1/notices?open=true')).body.data.length, 0)
})

test('a sender that is refused pauses the mailbox and blames no prospect', async (t) => {
  const server = await mailServer(t, {
    on: (command) => (command.startsWith('MAIL') ? '550 5.7.1 not your address' : undefined),
  })
  const { account, mailbox, id } = await running(server.port, ['ann@globex.example'])
  await pass(outreach, 60)
  const { state, pausedReason, health } = await healthOf(account, mailbox)
  assert.deepEqual([state, pausedReason, health.sentToday], ['paused', 'sender', 0])
  assert.deepEqual(await statesOf(id), [['active', null, 0]])
})

test('what is refused for the time being goes later, and only so often', async (t) => {
  let refusals = 2
  const server = await mailServer(t, {
    on: (command) => (command.startsWith('RCPT') && refusals-- > 0 ? '451 4.7.1 greylisted' : undefined),
  })
  const { id } = await running(server.port, ['ann@globex.example'])
  await pass(outreach, 180)
  assert.equal(server.received.length, 1)
  assert.deepEqual(await statesOf(id), [['active', null, 1]])

  refusals = 100
  const { id: other, account, mailbox } = await running(server.port, ['bob@globex.example'])
  await pass(outreach, 400)
  assert.deepEqual(await statesOf(other), [['stopped', 'undeliverable', 0]])
  assert.equal((await healthOf(account, mailbox)).health.sentToday, 0)
})

test('a mailbox of whose messages one in twenty bounces is paused', async (t) => {
  const server = await mailServer(t, {
    on: (command) => (/RCPT TO:<p(3|23)@/.test(command) ? '550 5.1.1 no such user' : undefined),
  })
  const { account, mailbox } = await running(server.port, people(30), { mailbox: { dailyLimit: 100 } })
  await pass(outreach, 500)
  const { state, pausedReason, health } = await healthOf(account, mailbox)
  // p3 is one of 20 or more only later; p23 makes it two of 24.
  assert.deepEqual([state, pausedReason], ['paused', 'bounces'])
  assert.ok(health.bounceRate >= 0.05)
  assert.match(health.lastError, /bounced/)
})

test('a process that ends between hand-over and record sends nothing twice', async (t) => {
  const server = await mailServer(t)
  const { id } = await running(server.port, ['ann@globex.example'])
  const { sender } = engine
  // It hands the message over and is never heard of again.
  const killed: MailboxSender = {
    ...sender,
    send: async (...args) => {
      await sender.send(...args)
      throw new Error('killed')
    },
  }
  for (let i = 0; i < 15 && server.received.length === 0; i++) {
    await planAll(db, clock.now)
    clock.now = new Date(clock.now.getTime() + 240_000)
    await sendDue({ ...engine, sender: killed })
  }
  assert.equal(server.received.length, 1)
  const end = clock.now.getTime() + 20 * 60_000
  await settleOpen(db, clock.now)
  assert.deepEqual(await statesOf(id), [['active', null, 0]])
  await pass(outreach, 30)
  assert.ok(clock.now.getTime() >= end)
  assert.equal(server.received.length, 1)
  const [enrolled] = await enrollments(outreach, id)
  assert.deepEqual([enrolled?.state, enrolled?.next_step], ['active', 1])
  clock.now = new Date('2026-11-19T08:00:00Z')
  await pass(outreach, 180)
  assert.equal(server.received.length, 2)
  assert.match(server.received[1]?.text ?? '', /In-Reply-To: </)
})

test('a hand-over without an answer is taken for sent', async (t) => {
  const server = await mailServer(t, {
    onText: (_, { socket }) => {
      socket.destroy()
      return ''
    },
  })
  const { account, id } = await running(server.port, ['ann@globex.example'])
  await pass(outreach, 120)
  assert.deepEqual(await statesOf(id), [['active', null, 1]])
  const { body } = await account.call('GET', `/v3/outreach/campaigns/${id}/stats`)
  assert.deepEqual([body.sent, body.unconfirmed], [1, 1])
})

test('two engines on one mailbox: no step twice, and the day’s cap is kept to the message', async (t) => {
  const server = await mailServer(t)
  const { account, mailbox } = await running(server.port, people(40), { mailbox: { dailyLimit: 12 } })
  const end = clock.now.getTime() + 9 * 3_600_000
  while (clock.now.getTime() < end) {
    await Promise.all([planAll(db, clock.now), planAll(db, clock.now)])
    clock.now = new Date(clock.now.getTime() + 10 * 60_000)
    await Promise.all([sendDue(engine), sendDue(engine), sendDue(engine)])
  }
  const to = server.received.map((one) => one.to)
  assert.equal(new Set(to).size, to.length)
  assert.equal(to.length, 12)
  const { health } = await healthOf(account, mailbox)
  assert.deepEqual([health.sentToday, health.dailyLimit], [12, 12])
})

test('a cap that is lowered after steps were planned holds at hand-over, with two engines', async (t) => {
  const server = await mailServer(t)
  const { account, mailbox, id } = await running(server.port, people(8), { sequence: { dailyLimit: 5 } })
  const Planned = row<{ n: number }>({ n: int })
  await db.run(sql`
    update outreach_enrollments set planned_at = ${clock.now}, mailbox_id = ${mailbox} where sequence_id = ${id}`)
  await account.call('PUT', `/v3/outreach/mailboxes/${mailbox}`, { dailyLimit: 3 })
  await Promise.all([sendDue(engine), sendDue(engine)])
  assert.equal(server.received.length, 3)
  await account.call('PUT', `/v3/outreach/mailboxes/${mailbox}`, { dailyLimit: 30 })
  await db.run(sql`
    update outreach_enrollments set planned_at = ${clock.now}, mailbox_id = ${mailbox}
     where sequence_id = ${id} and next_step = 0 and handing_id is null`)
  await Promise.all([sendDue(engine), sendDue(engine)])
  assert.equal(server.received.length, 5)
  const { n } = await db.one(
    Planned,
    sql`select count(*)::int as n from outreach_messages where sequence_id = ${id}`,
  )
  assert.equal(n, 5)
})

test('a step whose window has closed by the time of its hand-over waits for the next one', async (t) => {
  const server = await mailServer(t)
  const { mailbox, id } = await running(server.port, ['ann@globex.example'])
  await db.run(sql`
    update outreach_enrollments set planned_at = ${clock.now}, mailbox_id = ${mailbox} where sequence_id = ${id}`)
  clock.now = new Date('2026-11-16T19:00:00Z')
  await sendDue(engine)
  assert.equal(server.received.length, 0)
  clock.now = new Date('2026-11-17T07:59:00Z')
  await pass(outreach, 60)
  assert.equal(server.received.length, 1)
})

test('a pause, a module switched off and a mailbox paused by hand each stop the hand-over', async (t) => {
  const server = await mailServer(t)
  const { account, mailbox, id } = await running(server.port, ['ann@globex.example'])
  const planned = () =>
    db.run(sql`
      update outreach_enrollments set planned_at = ${clock.now}, mailbox_id = ${mailbox} where sequence_id = ${id}`)
  const status = (one: string) => account.call('POST', `/v3/outreach/campaigns/${id}/status`, { status: one })
  await status('paused')
  await planned()
  await sendDue(engine)
  await status('running')
  await account.call('PUT', '/api/v1/settings', { outreach_enabled: false })
  await planned()
  await sendDue(engine)
  await account.call('PUT', '/api/v1/settings', { outreach_enabled: true })
  await account.call('PUT', `/v3/outreach/mailboxes/${mailbox}`, { state: 'paused' })
  await planned()
  await sendDue(engine)
  assert.equal(server.received.length, 0)
  await account.call('PUT', `/v3/outreach/mailboxes/${mailbox}`, { state: 'active' })
  await pass(outreach, 60)
  assert.equal(server.received.length, 1)
})

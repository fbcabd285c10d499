// What is changed by a person while a message leaves, or after what it concerns has left.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Peer } from '../../../adapters/smtp-transport/fixtures/scripted-server.ts'
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
  serverAt,
  steps,
} from '../fixtures/outreach.ts'

const outreach = await makeOutreach()
const { clock } = outreach
const ann = 'ann@globex.example'

/** A server whose answer to the first message waits until something else is done. */
async function slowServer(t: TestContext, answer: string) {
  const meanwhile: { once?: (() => Promise<unknown>) | undefined } = {}
  const onText = (_: unknown, { socket }: Peer) => {
    const doing = meanwhile.once
    if (!doing) return undefined
    meanwhile.once = undefined
    doing().then(() => socket.write(`${answer}\r\n`))
    return ''
  }
  return { server: await mailServer(t, { onText }), meanwhile }
}

async function running(port: number, emails = [ann], more: { mailbox?: object; sequence?: object } = {}) {
  clock.now = monday
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, port, more.mailbox)
  const prospects = await makeProspects(account, emails)
  const id = await makeSequence(account, [mailbox], more.sequence)
  await run(account, id, emails)
  const path = `/v3/outreach/mailboxes/${mailbox}`
  const readMailbox = async () => (await account.call('GET', path)).body
  return { account, mailbox, prospects, id, path, readMailbox }
}

for (const [answer, left] of [
  ['250 2.0.0 taken', 1],
  ['451 4.3.0 later', 0],
  ['550 5.1.1 no such user', 0],
] as const)
  test(`a prospect is deleted while its step leaves: ${answer}`, async (t) => {
    const { server, meanwhile } = await slowServer(t, answer)
    const { account, prospects, id, readMailbox } = await running(server.port)
    meanwhile.once = () => account.call('DELETE', `/v3/outreach/prospects/${prospects[0]}`)
    await pass(outreach, 90)
    assert.deepEqual(await enrollments(outreach, id), [])
    const { state, health } = await readMailbox()
    assert.deepEqual([state, health.sentToday], ['active', left])
    const { body } = await account.call('GET', `/api/v1/messages?to=${ann}`)
    const ended = { 250: ['sent'], 451: [], 550: ['failed'] }[answer.slice(0, 3)]
    assert.deepEqual(
      body.data.map(({ status }: { status: string }) => status),
      ended,
    )
  })

test('a login that is refused with a password that was replaced meanwhile pauses nothing', async (t) => {
  const replacing: { once?: (() => Promise<unknown>) | undefined } = {}
  const server = await mailServer(t, {
    on: (command, { socket }) => {
      const doing = replacing.once
      if (!doing || !command.startsWith('AUTH')) return undefined
      replacing.once = undefined
      doing().then(() => socket.write('535 5.7.8 that password is over\r\n'))
      return ''
    },
  })
  const { account, path, readMailbox } = await running(server.port)
  replacing.once = async () => {
    const { status } = await account.call('PUT', path, { smtp: serverAt(server.port) })
    assert.equal(status, 204)
  }
  await pass(outreach, 60)
  assert.equal((await readMailbox()).state, 'active')
  assert.equal((await account.call('GET', '/api/v1/notices?open=true')).body.data.length, 0)
  assert.deepEqual(
    server.received.map(({ to }) => to),
    [ann],
  )
})

test('a delay that is changed while the step before it leaves holds', async (t) => {
  const { server, meanwhile } = await slowServer(t, '250 2.0.0 taken')
  const { account, id } = await running(server.port)
  const path = `/v3/outreach/campaigns/${id}`
  meanwhile.once = async () => {
    await account.call('POST', `${path}/status`, { status: 'paused' })
    const changed = [steps[0], { ...steps[1], delayDays: 9 }]
    assert.equal((await account.call('PUT', path, { steps: changed })).status, 204)
  }
  await pass(outreach, 60)
  const [one] = await enrollments(outreach, id)
  assert.equal(one?.due_at.toISOString().slice(0, 10), '2026-11-25')
})

test('a limit that is lowered below what left already holds from now on, follow-ups first', async (t) => {
  const server = await mailServer(t)
  const emails = Array.from({ length: 12 }, (_, n) => `p${n}@globex.example`)
  const oneDay = { steps: [steps[0], { ...steps[1], delayDays: 1 }] }
  const { account, id, path, readMailbox } = await running(server.port, emails, { sequence: oneDay })
  await pass(outreach, 60)
  const before = server.received.length
  assert.ok(before > 2 && before < emails.length, `${before}`)
  assert.equal((await account.call('PUT', path, { dailyLimit: 2 })).status, 204)
  await pass(outreach, 60)
  const { body } = await account.call('GET', `/v3/outreach/campaigns/${id}/plan`)
  assert.ok(body.plan.every(({ at }: { at: string }) => at >= '2026-11-17'))
  await pass(outreach, 7 * 60)
  assert.deepEqual([server.received.length, (await readMailbox()).limitToday], [before, 2])
  clock.now = new Date(monday.getTime() + 86_400_000)
  await pass(outreach, 9 * 60)
  const next = server.received.slice(before).map(({ text }) => /^Subject: Re: /m.test(text))
  assert.deepEqual(next, [true, true])
})

test('a step whose content comes to nothing for somebody does not leave', async (t) => {
  const server = await mailServer(t)
  const blank = '{% if prospect.attributes.role %}You are {{ prospect.attributes.role }}.{% endif %}'
  for (const content of [{ text: blank }, { html: `<p>&nbsp;${blank}</p>` }, { text: ' ', html: blank }]) {
    const sequence = { steps: [{ subject: 'Hello', ...content }] }
    const { id } = await running(server.port, [ann], { sequence })
    await pass(outreach, 60)
    const [one] = await enrollments(outreach, id)
    assert.deepEqual([one?.state, one?.reason, server.received.length], ['stopped', 'template', 0])
  }
  const half = [{ subject: 'Hello', text: 'Dear Ann', html: `<p>${blank}</p>` }]
  await running(server.port, [ann], { sequence: { steps: half } })
  await pass(outreach, 60)
  assert.equal(server.received.length, 1)
  assert.doesNotMatch(server.received[0]?.text ?? '', /text\/html/)
})

test('a step without content is refused, however it is written', async (t) => {
  const server = await mailServer(t)
  const { account, id } = await running(server.port)
  const path = `/v3/outreach/campaigns/${id}`
  await account.call('POST', `${path}/status`, { status: 'paused' })
  for (const content of [
    {},
    { text: ' ' },
    { html: '<p><br></p>' },
    { text: '\n', html: '<div>&nbsp;</div>' },
  ]) {
    const reply = await account.call('PUT', path, { steps: [steps[0], { delayDays: 1, ...content }] })
    assert.deepEqual([reply.status, reply.body.message], [400, 'text is missing in steps[1]'])
  }
  const image = { delayDays: 1, html: '<img src="https://acme.example/plan.png" alt="">' }
  assert.equal((await account.call('PUT', path, { steps: [steps[0], image] })).status, 204)
})

test('a schedule on no day, or without an hour, is refused', async (t) => {
  const server = await mailServer(t)
  const { account, id } = await running(server.port)
  const path = `/v3/outreach/campaigns/${id}`
  await account.call('POST', `${path}/status`, { status: 'paused' })
  for (const schedule of [{ days: [] }, { days: [0] }, { days: [8] }, { from: '18:00' }, { to: '09:00' }])
    assert.equal((await account.call('PUT', path, { schedule })).status, 400)
  assert.deepEqual((await account.call('GET', path)).body.schedule.days, [1, 2, 3, 4, 5])
})

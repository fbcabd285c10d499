// What a mailbox says of its day: how much left it, and whether something is wrong with it.
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
import { insertReply } from '../inbox/reply-queries.ts'
import { sendReplies } from './send-replies.ts'

const outreach = await makeOutreach()
const { clock, engine } = outreach
const people = (count: number) => Array.from({ length: count }, (_, n) => `p${n}@globex.example`)

async function running(port: number, emails: string[], more: object = {}) {
  clock.now = monday
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, port, more)
  await makeProspects(account, emails)
  await run(account, await makeSequence(account, [mailbox]), emails)
  const health = async () => (await account.call('GET', `/v3/outreach/mailboxes/${mailbox}`)).body.health
  return { account, mailbox, health }
}

async function answer(account: Account, mailbox: number, sender: string): Promise<void> {
  const { accountId } = account
  const id = await insertReply(engine.db, {
    ...{ accountId, kind: 'reply', mailboxId: String(mailbox), sequenceId: null, prospectId: null },
    ...{
      fingerprint: Buffer.from(`${accountId} ${sender}`),
      messageId: null,
      refs: [],
      sender,
      senderName: '',
    },
    ...{ subject: 'Hm', text: 'Hm.', html: null, receivedAt: clock.now, at: clock.now },
    ...{ classification: null, confidence: 0, reason: '' },
  })
  const { status } = await account.call('POST', `/v3/outreach/inbox/${id}/reply`, { text: 'Gladly.' })
  assert.equal(status, 202)
  await sendReplies(engine)
}

test('what is refused did not leave, answers did, and both are seen in the limit', async (t) => {
  const server = await mailServer(t, {
    on: (command) => (command.startsWith('RCPT TO:<p0@') ? '550 5.1.1 no such user' : undefined),
  })
  const { account, mailbox, health } = await running(server.port, people(6), { dailyLimit: 3 })
  await answer(account, mailbox, 'ann@globex.example')
  await pass(outreach, 200)
  // One answer, one refused, two steps.
  assert.equal(server.received.length, 3)
  assert.deepEqual([(await health()).sentToday, (await health()).dailyLimit], [3, 3])
  // The limit keeps no person from answering.
  await answer(account, mailbox, 'bob@globex.example')
  assert.deepEqual([server.received.length, (await health()).sentToday], [4, 4])
})

test('one recipient that is not taken for now says nothing of the mailbox', async (t) => {
  const server = await mailServer(t, {
    on: (command) => (command.startsWith('RCPT') ? '450 4.2.1 try later' : undefined),
  })
  const { account, mailbox, health } = await running(server.port, people(1))
  await pass(outreach, 120)
  assert.deepEqual([(await health()).state, (await health()).lastError], ['ok', null])
  await answer(account, mailbox, 'ann@globex.example')
  assert.deepEqual([(await health()).state, (await health()).lastError], ['ok', null])
})

test('what is wrong with a mailbox is told with its code and where it came', async (t) => {
  let refusing = /^MAIL/
  let says = '451 4.3.0 out of order'
  const server = await mailServer(t, { on: (command) => (refusing.test(command) ? says : undefined) })
  const { account, mailbox, health } = await running(server.port, people(1))
  await pass(outreach, 60)
  const told = { state: 'warning', lastError: '451 4.3.0 in answer to MAIL: out of order' }
  const { state, lastError } = await health()
  assert.deepEqual({ state, lastError }, told)
  refusing = /^RCPT/
  says = '421 4.7.0 too many messages'
  await answer(account, mailbox, 'ann@globex.example')
  assert.equal((await health()).lastError, '421 4.7.0 in answer to RCPT: too many messages')
})

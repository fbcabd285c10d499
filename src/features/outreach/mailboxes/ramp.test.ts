// How a new mailbox grows, counted from what it sends.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
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
const { clock } = outreach
const weekMs = 7 * 86_400_000

test('a mailbox that was connected for weeks begins with few, and grows from its first message on', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  clock.now = new Date(monday.getTime() - 3 * weekMs)
  const mailbox = await makeMailbox(account, server.port, { dailyLimit: 31, ramp: true })
  const limitToday = async () => {
    const { body } = await account.call('GET', `/v3/outreach/mailboxes/${mailbox}`)
    return body.limitToday
  }
  clock.now = monday
  assert.equal(await limitToday(), 10)

  const emails = Array.from({ length: 30 }, (_, n) => `p${n}@globex.example`)
  await makeProspects(account, emails)
  const id = await makeSequence(account, [mailbox])
  await run(account, id, emails)
  const { body } = await account.call('GET', `/v3/outreach/campaigns/${id}/plan`)
  const foreseen = body.plan.filter(({ at }: { at: string }) => at.startsWith('2026-11-17')).length
  await pass(outreach, 9 * 60)
  assert.deepEqual([server.received.length, foreseen, await limitToday()], [10, 11, 10])
  clock.now = new Date(monday.getTime() + weekMs)
  assert.equal(await limitToday(), 17)
  clock.now = new Date(monday.getTime() + 3 * weekMs)
  assert.equal(await limitToday(), 31)
})

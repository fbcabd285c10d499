import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../../test/until.ts'
import { int, row } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
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
import { postponeProspect, stopProspect } from './stop-enrollments.ts'

const outreach = await makeOutreach()
const { db } = outreach.app.pools

test('one who is deleted at the same moment is not there', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const id = await makeSequence(account, [await makeMailbox(account, server.port)])
  const emails = ['ann@globex.example', 'bob@globex.example']
  await makeProspects(account, emails)
  const enrolling = await db.transaction(async (tx) => {
    await tx.run(sql`delete from outreach_prospects where email = 'ann@globex.example'`)
    const asked = account.call('POST', `/v3/outreach/campaigns/${id}/enroll`, { emails })
    await until(someoneWaits, 'the call to wait')
    return { asked }
  })
  const { status, body } = await enrolling.asked
  assert.equal(status, 200)
  assert.deepEqual(body, { enrolled: 1, skipped: [{ prospect: 'ann@globex.example', reason: 'unknown' }] })
})

test('a sequence ends for one prospect alone, who can be let go on where they were', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  const id = await makeSequence(account, [mailbox])
  const emails = ['ann@globex.example', 'bob@globex.example']
  const [ann] = await makeProspects(account, emails)
  await run(account, id, emails)
  await pass(outreach, 9 * 60)
  const post = (what: string, body: object) =>
    account.call('POST', `/v3/outreach/campaigns/${id}/${what}`, body)
  const left = await post('unenroll', { prospectIds: [ann, 999_999], emails: ['ANN@globex.example', 'no'] })
  assert.deepEqual(left.body, {
    stopped: 1,
    skipped: [
      { prospect: 'no', reason: 'unknown' },
      { prospect: 999_999, reason: 'unknown' },
    ],
  })
  assert.deepEqual((await post('unenroll', { prospectIds: [ann] })).body, {
    stopped: 0,
    skipped: [{ prospect: ann, reason: 'not_enrolled' }],
  })
  await pass(outreach, 4 * 24 * 60, 30)
  const sentTo = () => server.received.map(({ to }) => to)
  assert.equal(sentTo().filter((one) => one.includes('ann@')).length, 1)
  assert.equal(sentTo().filter((one) => one.includes('bob@')).length, 2)
  assert.equal((await post('enroll', { prospectIds: [ann] })).body.skipped[0].reason, 'already_enrolled')
  assert.deepEqual((await post('enroll', { emails, again: true })).body, {
    enrolled: 1,
    skipped: [{ prospect: 'bob@globex.example', reason: 'already_enrolled' }],
  })
  await pass(outreach, 3 * 24 * 60, 30)
  assert.equal(sentTo().filter((one) => one.includes('ann@')).length, 2)
  const { body } = await account.call('GET', `/v3/outreach/campaigns/${id}/stats`)
  assert.deepEqual([body.enrolled, body.finished], [2, 2], JSON.stringify(body))
})

test('who comes back waits for the time of their next step, and rests as long as they are away', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  const id = await makeSequence(account, [mailbox])
  const emails = ['ann@globex.example']
  const [ann] = await makeProspects(account, emails)
  outreach.clock.now = monday
  await run(account, id, emails)
  await pass(outreach, 60)
  const comeBack = async () => {
    await account.call('POST', `/v3/outreach/campaigns/${id}/unenroll`, { emails })
    const { body } = await account.call('POST', `/v3/outreach/campaigns/${id}/enroll`, {
      emails,
      again: true,
    })
    assert.equal(body.enrolled, 1)
  }
  await comeBack()
  await pass(outreach, 24 * 60, 30)
  assert.equal(server.received.length, 1)
  const ref = { accountId: account.accountId, prospectId: String(ann) }
  const away = new Date('2026-11-24T00:00:00Z')
  await postponeProspect(db, ref, away)
  await comeBack()
  const [one] = await enrollments(outreach, id)
  assert.deepEqual([one?.next_step, one?.due_at], [1, away])
  await account.call('DELETE', `/v3/outreach/mailboxes/${mailbox}`)
  await comeBack()
  const [anew] = await enrollments(outreach, id)
  assert.deepEqual([anew?.next_step, anew?.due_at], [0, away])
})

test('who told one sequence to be away rests in another that they join meanwhile', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  const [first, second] = [await makeSequence(account, [mailbox]), await makeSequence(account, [mailbox])]
  const emails = ['ann@globex.example', 'bob@globex.example']
  const [ann] = await makeProspects(account, emails)
  outreach.clock.now = monday
  await run(account, first, emails)
  const away = new Date('2026-11-24T00:00:00Z')
  await postponeProspect(db, { accountId: account.accountId, prospectId: String(ann) }, away)
  await run(account, second, emails)
  const found = await enrollments(outreach, second)
  assert.deepEqual(
    found.map(({ due_at }) => due_at),
    [away, monday],
  )
})

test('who is deleted and added again does not get the sequence once more, unless that is asked for', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const id = await makeSequence(account, [await makeMailbox(account, server.port)])
  const other = await makeSequence(account, [
    await makeMailbox(account, server.port, { email: 'you@acme.example' }),
  ])
  const emails = ['dora@globex.example']
  const [dora] = await makeProspects(account, emails)
  outreach.clock.now = monday
  await run(account, id, emails)
  await pass(outreach, 60)
  assert.equal((await account.call('DELETE', `/v3/outreach/prospects/${dora}`)).status, 204)
  await makeProspects(account, emails)
  const enroll = async (into: number, more = {}) =>
    (await account.call('POST', `/v3/outreach/campaigns/${into}/enroll`, { emails, ...more })).body
  const skipped = [{ prospect: 'dora@globex.example', reason: 'already_enrolled' }]
  assert.deepEqual(await enroll(id), { enrolled: 0, skipped })
  await pass(outreach, 60)
  assert.equal(server.received.length, 1)
  assert.equal((await enroll(other)).enrolled, 1)
  assert.equal((await enroll(id, { again: true })).enrolled, 1)
})

test('who refused does not come back; whose mailbox is gone begins anew', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const id = await makeSequence(account, [await makeMailbox(account, server.port)])
  const emails = ['ann@globex.example', 'bob@globex.example']
  await makeProspects(account, emails)
  await account.call('POST', `/v3/outreach/campaigns/${id}/enroll`, { emails })
  await db.run(sql`
    update outreach_enrollments e
       set state = 'stopped', ended_at = now(), next_step = 1, mailbox_id = 0,
           reason = case when p.email like 'ann%' then 'refused' else 'mailbox_deleted' end
      from outreach_prospects p
     where e.sequence_id = ${id} and p.id = e.prospect_id`)
  const again = await account.call('POST', `/v3/outreach/campaigns/${id}/enroll`, { emails, again: true })
  assert.deepEqual(again.body, {
    enrolled: 1,
    skipped: [{ prospect: 'ann@globex.example', reason: 'refused' }],
  })
  const [one] = (await enrollments(outreach, id)).filter(({ state }) => state === 'active')
  assert.deepEqual([one?.next_step, one?.reason], [0, null])
})

test('who refused, or said to be away, after their end is heard all the same', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const id = await makeSequence(account, [await makeMailbox(account, server.port)])
  const emails = ['ann@globex.example', 'bob@globex.example']
  const [ann = 0, bob = 0] = await makeProspects(account, emails)
  outreach.clock.now = monday
  await run(account, id, emails)
  await pass(outreach, 60)
  const refOf = (prospect: number) => ({ accountId: account.accountId, prospectId: String(prospect) })
  await stopProspect(db, refOf(ann), 'replied', monday)
  await stopProspect(db, refOf(ann), 'refused', monday)
  await stopProspect(db, refOf(bob), 'manual', monday)
  const away = new Date('2026-12-01T00:00:00Z')
  await postponeProspect(db, refOf(bob), away)
  const again = await account.call('POST', `/v3/outreach/campaigns/${id}/enroll`, { emails, again: true })
  assert.deepEqual(again.body, {
    enrolled: 1,
    skipped: [{ prospect: 'ann@globex.example', reason: 'refused' }],
  })
  const [one] = (await enrollments(outreach, id)).filter(({ state }) => state === 'active')
  assert.deepEqual(one?.due_at, away)
})

const Waiting = row<{ n: number }>({ n: int })

async function someoneWaits(): Promise<boolean> {
  const { n } = await db.one(
    Waiting,
    sql`select count(*)::int as n
          from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return n > 0
}

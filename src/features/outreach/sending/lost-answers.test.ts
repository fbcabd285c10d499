// What a mail server said is not lost with the database: a step that never left would be taken for sent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MailboxOutcome } from '../../../kernel/mailbox-ports.ts'
import { int, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { newMessageId } from '../../messages/message-id.ts'
import {
  enrollments,
  mailServer,
  makeMailbox,
  makeOutreach,
  makeProspects,
  makeSequence,
  monday,
  run,
} from '../fixtures/outreach.ts'
import { insertOutgoing } from '../messages/queries.ts'
import { claimStep } from './claim-step.ts'
import { sendDue } from './engine.ts'
import { findDue } from './queries.ts'
import { sendReplies } from './send-replies.ts'
import { settleStep } from './settle-step.ts'

const outreach = await makeOutreach()
const { clock, engine } = outreach
const { db } = engine

/** One prospect whose first step is due. */
async function due(port: number) {
  clock.now = monday
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, port)
  await makeProspects(account, ['ann@globex.example'])
  const id = await makeSequence(account, [mailbox])
  await run(account, id, ['ann@globex.example'])
  await db.run(sql`
    update outreach_enrollments set planned_at = ${clock.now}, mailbox_id = ${mailbox} where sequence_id = ${id}`)
  return { id, mailbox }
}

/** The next two statements that change a message in this way end as if the server were stopping. */
async function awayTwice(event: 'update' | 'delete') {
  await db.run(sql`create sequence answers`)
  await db.run(sql`
    create function away() returns trigger language plpgsql as $$
    begin
      if nextval('answers') < 3 then raise exception using errcode = '57P01', message = 'stopping'; end if;
      return old;
    end $$`)
  if (event === 'delete')
    await db.run(
      sql`create trigger away before delete on outreach_messages for each row execute function away()`,
    )
  else
    await db.run(
      sql`create trigger away after update on outreach_messages for each row execute function away()`,
    )
  return async () => {
    await db.run(sql`drop function away cascade`)
    await db.run(sql`drop sequence answers`)
  }
}

const State = row<{ state: string }>({ state: text })
const statesOf = (id: number) =>
  db.many(State, sql`select state from outreach_messages where sequence_id = ${id}`)

test('a step that was put off while the database was away is tried again, not taken for sent', async (t) => {
  const server = await mailServer(t, {
    on: (command) => (command.startsWith('RCPT') ? '451 4.3.0 later' : undefined),
  })
  const { id } = await due(server.port)
  const back = await awayTwice('delete')
  await sendDue(engine)
  await back()
  const [found] = await enrollments(outreach, id)
  assert.deepEqual([found?.state, found?.next_step, await statesOf(id)], ['active', 0, []])
})

test('a step that was taken while the database was away is known to be sent', async (t) => {
  const server = await mailServer(t)
  const { id } = await due(server.port)
  const back = await awayTwice('update')
  await sendDue(engine)
  await back()
  const [found] = await enrollments(outreach, id)
  assert.deepEqual(
    [found?.next_step, await statesOf(id), server.received.length],
    [1, [{ state: 'sent' }], 1],
  )
})

test('a bounce that is recorded again, because nobody heard the commit, counts once', async (t) => {
  const server = await mailServer(t)
  const { mailbox } = await due(server.port)
  const [ref] = await findDue(db, clock.now, { each: 1, all: 1 })
  const taken = ref && (await claimStep(engine, ref, clock.now))
  assert.ok(taken)
  const said = { smtpCode: 550, enhancedCode: '5.1.1', message: 'no such user', stage: 'rcpt' }
  const rejected = { kind: 'rejected', ...said } as MailboxOutcome
  for (let i = 0; i < 2; i++) await settleStep(db, taken, rejected, clock.now)
  const Day = row<{ sent: number; refused: number; bounced: number }>({
    sent: int,
    refused: int,
    bounced: int,
  })
  const days = await db.many(
    Day,
    sql`
    select sent::int, refused::int, bounced::int from outreach_mailbox_days where mailbox_id = ${mailbox}`,
  )
  assert.deepEqual(days, [{ sent: 0, refused: 1, bounced: 1 }])
})

test('an answer that waits when its mailbox is deleted is told to have failed', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  const { id, messageId } = newMessageId('acme.example')
  await insertOutgoing(db, {
    ...{ accountId: account.accountId, id, messageId, mailboxId: String(mailbox), at: clock.now },
    ...{ sequenceId: null, prospectId: null, step: null, refs: [], state: 'queued' },
    ...{ recipient: 'ann@globex.example', subject: 'Re: Hello', text: 'With pleasure.' },
  })
  await account.call('DELETE', `/v3/outreach/mailboxes/${mailbox}`)
  await sendReplies(engine)
  const { body } = await account.call('GET', '/api/v1/messages?to=ann@globex.example')
  assert.deepEqual([body.data[0]?.status, server.received.length], ['failed', 0])
})

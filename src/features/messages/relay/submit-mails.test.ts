import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { type Caller, nobody } from '../../../kernel/ctx.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { suppress } from '../../suppressions/suppressions.ts'
import { openMail } from './mail.ts'
import { type Submission, submitMails } from './submit-mails.ts'

const { pools, makeAccount, makeKey } = await makeApp()
const { db } = pools
const now = new Date('2026-11-15T12:00:00.000Z')
const mail = openMail(Buffer.from('From: shop@example.com\r\n\r\nHi.'))

async function makeCaller(dailyCap: number | null = null): Promise<Caller> {
  const { accountId } = await makeAccount()
  const { id } = await makeKey({ dailyCap }, accountId)
  return { ...nobody, accountId, keyId: id, dailyCap, scopes: null, senderDomains: null }
}

function submission(caller: Caller, recipients: string[], more: Partial<Submission> = {}): Submission {
  const ctx = { db, now, caller, requestId: 'req_test', cursorKey: Buffer.alloc(32), takesMarketing: true }
  return { ctx, envelopeFrom: 'shop@example.com', recipients, mail, ...more }
}

/** For each message its recipients with their states, or the code of its refusal. */
async function submit(...submissions: Submission[]): Promise<(string | string[])[]> {
  const results = await db.transaction((tx) => submitMails(tx, submissions, 'relay.test'))
  return results.map((result) =>
    result instanceof Refusal
      ? result.code
      : result.map(({ status, outgoing }) => `${outgoing.recipient.email} ${status}`),
  )
}

test('a recipient suppressed since RCPT is recorded beside others, and refused alone', async () => {
  const caller = await makeCaller()
  const why = { reason: 'manual', source: 'api', messageId: null, at: now } as const
  await suppress(db, { accountId: caller.accountId, email: 'gone@example.com' }, why)
  assert.deepEqual(
    await submit(
      submission(caller, ['Gone@example.com', 'b@example.com']),
      submission(caller, ['gone@example.com']),
    ),
    [['Gone@example.com suppressed', 'b@example.com queued'], 'recipient_suppressed'],
  )
})

test('a message that does not fit under a cap takes nothing with it', async () => {
  const [capped, free] = [await makeCaller(4), await makeCaller()]
  const pair = ['a@example.com', 'b@example.com']
  assert.deepEqual(
    await submit(
      submission(free, pair),
      submission(capped, [...pair, 'c@example.com']),
      submission(capped, pair),
      submission(capped, ['d@example.com']),
      submission(free, ['d@example.com']),
    ),
    [
      ['a@example.com queued', 'b@example.com queued'],
      ['a@example.com queued', 'b@example.com queued', 'c@example.com queued'],
      'daily_cap_reached',
      ['d@example.com queued'],
      ['d@example.com queued'],
    ],
  )
})

test('the letters of a recipient reach the hand-over as they came', async () => {
  const caller = await makeCaller()
  const [queued] = await db.transaction((tx) =>
    submitMails(tx, [submission(caller, ['Anna.Lee@Example.com', 'bo@example.com'])], 'relay.test'),
  )
  assert.ok(queued && !(queued instanceof Refusal))
  assert.deepEqual(
    queued.map(({ outgoing }) => outgoing.parts?.to[0]?.email),
    ['Anna.Lee@example.com', undefined],
  )
})

test('a large message to very many is refused, to fewer it is not', async () => {
  const caller = await makeCaller()
  const large = openMail(Buffer.from(`From: a@example.com\r\n\r\n${'x'.repeat(3 * 1024 * 1024)}`))
  const many = Array.from({ length: 100 }, (_, i) => `r${i}@example.com`)
  assert.deepEqual(await submit(submission(caller, many, { mail: large })), ['payload_too_large'])
  assert.deepEqual(await submit(submission(caller, ['r@example.com'], { mail: large })), [
    ['r@example.com queued'],
  ])
})

// Nobody being suppressed is assumed, and checked with the commit; an account of which that was not so is asked first.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { nobody } from '../../kernel/ctx.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { sql } from '../../kernel/sql.ts'
import { newMessageId } from './message-id.ts'
import { type Outgoing, queueMessages } from './queue-messages.ts'

const { pools, accountId, makeKey } = await makeApp()
const { db } = pools
const { id: keyId } = await makeKey()
const caller = { ...nobody, accountId, keyId, scopes: null, senderDomains: null }

const outgoing = (email: string, more: Partial<Outgoing> = {}): Outgoing => ({
  ...{ caller, now: new Date(), source: 'api', stream: 'transactional', from: { email: 'shop@example.com' } },
  ...{ subject: 'Hello', tags: [], attachments: [], track: {}, suppressed: 'refuse', recipient: { email } },
  messageId: newMessageId('example.com').messageId,
  ...more,
})

const suppress = (email: string, reason = 'hard_bounce') =>
  db.run(sql`insert into suppressions (account_id, email, reason, source, created_at, id)
             values (${accountId}, ${email}, ${reason}, 'manual', now(), gen_random_uuid())`)

/** What became of each, and how often the transaction ran. */
async function queue(messages: Outgoing[]) {
  let runs = 0
  const results = await db.transaction((tx) => {
    runs++
    return queueMessages(tx, messages)
  })
  return { runs, told: results.map((one) => (one instanceof Refusal ? one.code : one.status)) }
}

test('a batch with a suppressed recipient is run again once, and the account is asked first from then on', async () => {
  await suppress('gone@example.org')
  const batch = () => [outgoing('anna@example.org'), outgoing('gone@example.org')]
  const told = ['queued', 'recipient_suppressed']
  assert.deepEqual(await queue([outgoing('anna@example.org')]), { runs: 1, told: ['queued'] })
  assert.deepEqual(await queue(batch()), { runs: 2, told })
  assert.deepEqual(await queue(batch()), { runs: 1, told })
})

test('what its person asked for goes to an address that unsubscribed, and to no other', async () => {
  await suppress('left@example.org', 'unsubscribe')
  await suppress('bounced@example.org')
  const asked = (email: string) => outgoing(email, { track: { asked: true } })
  const { told } = await queue([asked('left@example.org'), asked('bounced@example.org')])
  assert.deepEqual(told, ['queued', 'recipient_suppressed'])
})

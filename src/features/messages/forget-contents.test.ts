import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { runOnce } from '../../kernel/job.ts'
import { int, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { captureTransport } from './capture.ts'
import { deliverThrough } from './fixtures/engine.ts'
import { contentJobs } from './forget-contents.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools
const dayMs = 24 * 3_600_000
const inDays = (days: number) => new Date(Date.now() + days * dayMs)

const Count = row<{ bodies: number; files: number; captured: number }>({
  bodies: int,
  files: int,
  captured: int,
})

const kept = async () => {
  const { bodies, files, captured } = await db.one(
    Count,
    sql`
    select (select count(*) from message_bodies)::int as bodies,
           (select count(*) from message_attachments)::int as files,
           (select count(*) from captured_messages)::int as captured`,
  )
  return [bodies, files, captured]
}

async function send(to: string, given: object = {}, key = app.key): Promise<string> {
  const attachments = [{ filename: 'terms.txt', content: Buffer.from('Terms').toString('base64') }]
  const body = { from: 'shop@example.com', to, subject: 'Order', text: 'Thank you.', attachments, ...given }
  const sent = await app.call('POST', '/api/v1/transactional/send', { key, body })
  assert.equal(sent.status, 202)
  return sent.body.id
}

async function forget(days: number, now: Date) {
  for (const job of contentJobs(days)) await runOnce(job, { db, now: () => now })
}

test('contents go the days after a message is done with; what became of it stays', async () => {
  const other = await app.makeAccount()
  const done = await send('done@example.org')
  await send('other@example.org', {}, other.key)
  await send('later@example.org', { scheduled_at: inDays(20).toISOString() })
  const held = await send('held@example.org')
  await db.run(
    sql`with gone as (delete from delivery_queue q using messages m
                       where m.id = q.message_id and m.recipient = 'held@example.org')
        update messages set status = 'held' where recipient = 'held@example.org'`,
  )
  const now = () => new Date()
  const stop = deliverThrough({ db, now, transport: captureTransport(db, now) })
  const read = async (id: string) => (await app.call('GET', `/api/v1/messages/${id}`)).body
  const arrived = async () => (await read(done)).status === 'delivered' && (await kept())[2] === 2
  await until(arrived, 'two messages to arrive')
  await stop()

  await forget(0, inDays(1_000))
  await forget(30, inDays(29))
  assert.deepEqual(await kept(), [4, 4, 2])
  const before = await read(done)
  await forget(30, inDays(31))
  assert.deepEqual(await kept(), [2, 2, 0])
  assert.deepEqual(await read(done), before)
  assert.equal((await read(held)).status, 'held')
  const { uuid } = (await app.call('GET', '/v3/smtp/emails?email=done@example.org')).body
    .transactionalEmails[0]
  const shown = await app.call('GET', `/v3/smtp/emails/${uuid}`)
  assert.deepEqual([shown.status, shown.body.body, shown.body.attachmentCount], [200, '', 0])
  const page = await app.call('GET', '/api/v1/contacts/export?email=done@example.org')
  assert.equal(page.status, 200)
})

test('more than one statement may take, and what is left of them is passed over', async () => {
  await db.run(sql`delete from message_bodies`)
  await db.run(sql`
    insert into messages (id, account_id, key_id, status, source, mode, stream, sender, recipient, subject,
                          message_id, created_at)
    select uuidv7(), ${app.accountId}, gen_random_uuid(), case n % 3 when 0 then 'held' else 'failed' end, 'api',
           'live', 'transactional', 'shop@example.com', 'many@example.org', 'Order', n::text, now()
      from generate_series(1, 900) n`)
  await db.run(sql`
    insert into message_bodies (message_id, account_id, parts)
    select id, account_id, '{}' from messages where account_id = ${app.accountId} and recipient = 'many@example.org'`)
  await Promise.all([forget(1, inDays(2)), forget(1, inDays(2))])
  assert.deepEqual((await kept())[0], 300)
})

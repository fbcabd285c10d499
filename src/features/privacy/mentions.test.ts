import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { int, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

const app = await makeApp({ deliver: true, env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools

async function makeShop() {
  const { accountId, key } = await app.makeAccount()
  const call = (method: string, path: string, body?: unknown) => app.call(method, path, { key, body })
  const send = async (body: object) => {
    const content = { sender: { email: 'shop@example.com' }, subject: 'x', textContent: 'x', ...body }
    const { body: sent } = await call('POST', '/v3/smtp/email', content)
    assert.ok(sent.messageId, JSON.stringify(sent))
  }
  const delivered = (count: number) =>
    until(async () => {
      const { body } = await call('GET', '/api/v1/messages?status=delivered')
      return body.data.length === count
    }, 'the messages to be delivered')
  const erase = (email: string) => call('POST', '/api/v1/contacts/erase', { email, confirm: true })
  /** In how many rows of each table about messages one of the words stands. */
  const tracesOf = async (...words: string[]) => {
    const hits = words.map((word) => `%${word}%`)
    const counted = await db.one(
      row<{ messages: number; bodies: number; captured: number }>({
        messages: int,
        bodies: int,
        captured: int,
      }),
      sql`
      select (select count(*)::int from messages t
               where account_id = ${accountId} and t::text ilike any(${hits}::text[])) as messages,
             (select count(*)::int from message_bodies
               where account_id = ${accountId}
                 and (parts::text ilike any(${hits}::text[])
                      or encode(raw, 'escape') ilike any(${hits}::text[]))) as bodies,
             (select count(*)::int from captured_messages
               where account_id = ${accountId} and encode(raw, 'escape') ilike any(${hits}::text[])) as captured`,
    )
    return Object.values(counted)
  }
  return { accountId, key, call, send, delivered, erase, tracesOf }
}

test('a person is erased from messages to others: beside them, as their sender, for their answers', async () => {
  const { call, send, delivered, erase, tracesOf } = await makeShop()
  const ann = { email: 'Ann@example.com', name: 'Ann "A." Zqx' }
  const bob = { email: 'bob@example.com', name: 'Bob' }
  await send({ to: [ann, bob] })
  await send({ to: [bob], replyTo: ann })
  await send({ to: [bob], sender: ann, headers: { 'X-Mailin-custom': 'by ann@example.com' } })
  await send({ to: [{ email: 'joann@example.com' }], replyTo: { email: 'joann@example.com', name: 'Jo' } })
  await delivered(5)
  assert.equal((await erase('ann@example.com')).status, 200)
  assert.deepEqual(await tracesOf('zqx', ' ann@example.com', '"ann@example.com'), [0, 0, 0])
  assert.deepEqual(await tracesOf('joann@example.com'), [1, 1, 1])
  assert.deepEqual((await call('GET', '/api/v1/messages?to=bob@example.com')).body.data.length, 3)
  const shown = await call('GET', '/api/v1/sandbox/messages')
  assert.deepEqual(
    shown.body.data.map(({ to }: { to: string }) => to),
    ['joann@example.com'],
  )
})

test('a person is erased from copies of what came through the relay', async () => {
  const { accountId, send, delivered, erase, tracesOf } = await makeShop()
  await send({ to: [{ email: 'ann@example.com' }, { email: 'bob@example.com' }] })
  await delivered(2)
  const raw = 'To: "Zqx, Ann" <ann@example.com>,\r\n Bob <bob@example.com>\r\n\r\nGr\u00fc\u00dfe \\ \0'
  await db.run(sql`
    update message_bodies set parts = null, raw = ${Buffer.from(raw)} where account_id = ${accountId}`)
  assert.equal((await erase('ann@example.com')).status, 200)
  assert.deepEqual(await tracesOf('zqx', 'ann@example.com'), [0, 0, 0])
  const { rows } = await db.one(
    row<{ rows: number }>({ rows: int }),
    sql`
    select count(*)::int as rows
      from message_bodies
     where account_id = ${accountId}
       and raw = ${Buffer.from(raw.replace('"Zqx, Ann" <ann@example.com>', '<erased@erased.invalid>'))}`,
  )
  assert.equal(rows, 1)
})

test('an erased person is no default sender any more', async () => {
  const { call, erase } = await makeShop()
  await call('PUT', '/api/v1/settings', { default_sender: { email: 'ann@example.com', name: 'Ann' } })
  await erase('bob@example.com')
  assert.equal((await call('GET', '/api/v1/settings')).body.default_sender.email, 'ann@example.com')
  await erase('ann@example.com')
  assert.equal((await call('GET', '/api/v1/settings')).body.default_sender, null)
  const mail = { to: 'carl@example.com', subject: 'x', text: 'x' }
  const { status, body } = await call('POST', '/api/v1/transactional/send', mail)
  assert.deepEqual([status, body.error.param], [422, 'from'])
})

test('what waits to leave in the name of an erased person leaves as it is', async () => {
  const { call, erase } = await makeShop()
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const mail = {
    from: 'ann@example.com',
    to: 'bob@example.com',
    subject: 'x',
    text: 'x',
    scheduled_at: later,
  }
  const { status, body } = await call('POST', '/api/v1/transactional/send', mail)
  assert.equal(status, 202)
  await erase('ann@example.com')
  assert.deepEqual((await call('GET', `/api/v1/messages/${body.id}`)).body.from, 'ann@example.com')
})

// Blocked domains and addresses that bounced, as a sender meets them.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { sql } from '../../kernel/sql.ts'
import { suppress } from './suppressions.ts'

const app = await makeApp({ deliver: true, env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })

async function setUp() {
  const { key, accountId } = await app.makeAccount()
  const call = (method: string, path: string, body?: unknown) => app.call(method, path, { key, body })
  const send = (to: string, more: object = {}) =>
    call('POST', '/v3/smtp/email', {
      sender: { email: 'shop@example.com' },
      to: [{ email: to }],
      subject: 'Hello',
      textContent: 'Hello',
      ...more,
    })
  return { accountId, call, send }
}

describe('a blocked domain', () => {
  test('stops what is sent to its addresses, for its account only, until it is unblocked', async () => {
    const [mine, other] = [await setUp(), await setUp()]
    assert.equal(
      (await mine.call('POST', '/v3/smtp/blockedDomains', { domain: 'Blocked.Example' })).status,
      201,
    )
    assert.equal(
      (await mine.call('POST', '/v3/smtp/blockedDomains', { domain: 'blocked.example' })).status,
      201,
    )
    const refused = await mine.send('Ann@blocked.example')
    assert.deepEqual([refused.status, refused.body.code], [422, 'recipient_suppressed'])
    assert.equal((await mine.send('ann@sub.blocked.example')).status, 201)
    assert.equal((await other.send('ann@blocked.example')).status, 201)
    assert.deepEqual((await other.call('GET', '/v3/smtp/blockedDomains')).body, { domains: [] })
    assert.equal((await other.call('DELETE', '/v3/smtp/blockedDomains/blocked.example')).status, 404)
    assert.equal((await mine.call('DELETE', '/v3/smtp/blockedDomains/BLOCKED.example')).status, 204)
    assert.equal((await mine.send('ann@blocked.example')).status, 201)
  })

  test('stops what was accepted before', async () => {
    const { accountId, call, send } = await setUp()
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    assert.equal((await send('ann@later.example', { scheduledAt })).status, 202)
    await call('POST', '/v3/smtp/blockedDomains', { domain: 'later.example' })
    // Its time comes after that, however slow the machine is.
    await app.pools.db.run(sql`update delivery_queue set due_at = now() where account_id = ${accountId}`)
    await until(async () => {
      const { body } = await call('GET', '/api/v1/messages?to=ann@later.example')
      return body.data[0].status === 'suppressed'
    }, 'the message to be suppressed')
  })

  test('has to be a domain', async () => {
    const { call } = await setUp()
    for (const domain of [undefined, null, '', 'nothing', 'a b.example', 'a\0.example', 'x'.repeat(300)]) {
      const { status } = await call('POST', '/v3/smtp/blockedDomains', { domain })
      assert.equal(status, 400, String(domain))
    }
  })
})

test('addresses that bounced are unblocked by themselves, by days, or all; others stay', async () => {
  const { accountId, call } = await setUp()
  const block = (email: string, reason: 'hard_bounce' | 'complaint', day: string) =>
    suppress(
      app.pools.db,
      { accountId, email },
      { reason, source: 'test', messageId: null, at: new Date(day) },
    )
  await block('one@example.com', 'hard_bounce', '2026-01-01')
  await block('two@example.com', 'hard_bounce', '2026-02-02')
  await block('three@example.com', 'hard_bounce', '2026-03-03')
  await block('angry@example.com', 'complaint', '2026-02-02')
  const left = async (body: object) => {
    assert.equal((await call('POST', '/v3/smtp/deleteHardbounces', body)).status, 204)
    const { contacts } = (await call('GET', '/v3/smtp/blockedContacts?sort=asc')).body
    return contacts.map(({ email }: { email: string }) => email.split('@')[0])
  }
  assert.deepEqual(await left({ contactEmail: 'One@example.com' }), ['two', 'three', 'angry'])
  assert.deepEqual(await left({ startDate: '2026-02-01', endDate: '2026-02-28' }), ['three', 'angry'])
  assert.deepEqual(await left({}), ['angry'])
  assert.equal((await call('POST', '/v3/smtp/deleteHardbounces', { startDate: '2026-02-01' })).status, 400)
  const { status, body } = await call('POST', '/v3/smtp/deleteHardbounces', { contactEmail: 'one' })
  assert.deepEqual([status, body.message], [400, 'contactEmail must be an email address.'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { sql } from '../../kernel/sql.ts'
import { withPlusSigns } from './plus-signs.ts'

const app = await makeApp()
const anna = 'anna+news@example.com'
const get = async (path: string) => (await app.call('GET', path)).body

test('an address whose plus sign nobody encoded is found', async () => {
  const body = { from: 'shop@example.com', to: anna, subject: 'Hello', text: 'Hello', tag: 'first' }
  assert.equal((await app.call('POST', '/api/v1/transactional/send', { body })).status, 202)
  await app.call('POST', '/api/v1/suppressions', { body: { email: anna } })
  await app.call('PUT', '/api/v1/settings', { body: { outreach_enabled: true } })
  await app.call('POST', '/v3/outreach/prospects', { body: { email: anna } })
  for (const plus of ['+', '%2B']) {
    const email = anna.replace('+', plus)
    assert.equal((await get(`/api/v1/messages?to=${email}`)).data.length, 1)
    assert.equal((await get(`/api/v1/suppressions?email=${email}`)).data.length, 1)
    assert.equal((await get(`/api/v1/contacts/export?email=${email}`)).email, anna)
    assert.equal((await get(`/v3/smtp/emails?email=${email}`)).count, 1)
    assert.equal((await get(`/v3/outreach/prospects?email=${email}`)).count, 1)
  }
})

test('a space before or behind an address is one', async () => {
  const { accountId, key } = await app.makeAccount()
  await app.pools.db.run(sql`
    insert into blocked_senders (account_id, email, sender, id, created_at)
    select ${accountId}, ${anna}, sender, gen_random_uuid(), clock_timestamp()
      from unnest(array['shop@example.com', 'info@example.com']) as sender`)
  const senders = new URLSearchParams({ senders: ' shop@example.com, info@example.com ' })
  assert.match(senders.toString(), /%2C\+info/)
  const { body } = await app.call('GET', `/v3/smtp/blockedContacts?${senders}`, { key })
  assert.equal(body.count, 2)
})

test('a space in a telephone number is one', () => {
  const to = '+33 6 12 34 56 78'
  assert.deepEqual(withPlusSigns({ to }, `/api/v1/sandbox/sms?${new URLSearchParams({ to })}`), { to })
})

test('so is the zone of a time', async () => {
  const reply = await app.call('GET', '/api/v1/stats/cohorts?since=2026-11-18T01:00:00+02:00')
  assert.deepEqual([reply.status, reply.body.window?.since], [200, '2026-11-17T00:00:00.000Z'])
})

test('in everything else a space is one', async () => {
  const { filters } = await get('/api/v1/stats/engagement?source=web+form+a@b')
  assert.equal(filters.source, 'web form a@b')
})

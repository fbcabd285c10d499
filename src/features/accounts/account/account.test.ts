import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { sql } from '../../../kernel/sql.ts'

const app = await makeApp({ now: () => new Date('2026-12-15T12:00:00Z') })
const { db } = app.pools

test('the account in the provider’s shape, with what is left this month', async () => {
  const { key, accountId } = await app.makeAccount()
  const read = async () => (await app.call('GET', '/v3/account', { key })).body
  const free = await read()
  assert.deepEqual([free.plan.length, free.plan[0].type, free.plan[0].endDate], [1, 'payAsYouGo', undefined])
  assert.equal(free.email, `account-${accountId}@posthorn.invalid`)
  await db.run(sql`update accounts set monthly_quota = 10, name = 'Shop' where id = ${accountId}`)
  const message = { from: 'shop@example.com', to: 'anna@example.org', subject: 'Hi', text: 'Hi.' }
  await app.call('POST', '/api/v1/transactional/send', { key, body: message })
  await app.call('PUT', '/api/v1/settings', {
    key,
    body: { default_sender: { email: 'hello@shop.example' } },
  })
  const account = await read()
  assert.deepEqual(account.plan, [
    {
      type: 'subscription',
      credits: 9,
      creditsType: 'sendLimit',
      startDate: String(Date.UTC(2026, 11, 1) / 1000),
      endDate: String(Date.UTC(2027, 0, 1) / 1000),
    },
  ])
  assert.deepEqual([account.companyName, account.email], ['Shop', 'hello@shop.example'])
  assert.deepEqual(account.marketingAutomation, { enabled: true })
  assert.deepEqual(account.relay, { enabled: false, data: { userName: 'apikey', relay: '', port: 0 } })
})

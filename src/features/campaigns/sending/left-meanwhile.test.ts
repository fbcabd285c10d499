import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { until } from '../../../../test/until.ts'
import { unsubscribeKeysOf } from '../../contacts/unsubscribe/tokens.ts'
import { deliverThrough } from '../../messages/fixtures/engine.ts'
import { slowTransport } from '../../messages/fixtures/slow-transport.ts'
import { campaignMail } from './campaign-mail.ts'
import { jobsOf, makeCampaign, makeList, progress } from './fixtures/campaigns.ts'

const app = await makeApp()
const { db } = app.pools
const { accountId, key } = app

const transport = slowTransport()
const { got } = transport

test('recipients of a campaign who leave before their turn at a slow upstream get nothing', async () => {
  const me = { accountId, keyId: (await app.makeKey()).id }
  const emails = Array.from({ length: 10 }, (_, i) => `reader${i}@example.org`)
  const listId = await makeList(db, me, emails)
  const id = await makeCampaign(db, me, { recipients: { listIds: [listId] } })
  await jobsOf(db)('freeze', 'feed')
  const keys = unsubscribeKeysOf([randomBytes(32)])
  const needs = { db, now: () => new Date(), unsubscribeKeys: async () => keys, baseUrl: 'https://mail.test' }
  deliverThrough({ db, transport, campaigns: campaignMail(needs) })
  await until(async () => got.length >= 2, 'the first to be under way')
  const [left = '', deleted = '', ...others] = emails.filter((email) => !got.includes(email)).slice(-5)
  const leaves = { body: { emailBlacklisted: true }, key }
  assert.equal((await app.call('PUT', `/v3/contacts/${left}`, leaves)).status, 204)
  assert.equal((await app.call('DELETE', `/v3/contacts/${deleted}`, { key })).status, 204)
  assert.ok(!got.includes(left) && !got.includes(deleted))
  await until(async () => got.length >= 8, 'the others to leave')
  assert.ok(others.every((email) => got.includes(email)))
  const { counts } = await until(async () => {
    const now = await progress(db, id)
    return now.counts.sent === 8 && now
  }, 'the results')
  assert.deepEqual(counts, { sent: 8, suppressed: 1, cancelled: 1 })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'

test('no campaign begins where the upstream takes transactional mail only', async () => {
  const env = {
    POSTHORN_TRANSPORT: 'scaleway://fr-par',
    SCW_SECRET_KEY: 'secret',
    SCW_DEFAULT_PROJECT_ID: 'project',
  }
  const app = await makeApp({ env })
  const { body: list } = await app.call('POST', '/v3/contacts/lists', { body: { name: 'News' } })
  const person = { email: 'anna@example.com', listIds: [list.id] }
  await app.call('POST', '/v3/contacts', { body: person })
  const content = { subject: 'News', sender: { email: 'shop@example.com' }, htmlContent: '<p>Hello</p>' }
  const campaign = { name: 'News', ...content, recipients: { listIds: [list.id] } }
  const { body: made } = await app.call('POST', '/v3/emailCampaigns', { body: campaign })
  const base = `/v3/emailCampaigns/${made.id}`
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  for (const [path, body] of [
    [`${base}/sendNow`, { confirm: true }],
    [`${base}/schedule`, { scheduledAt }],
    ['/api/v1/campaigns/send', { campaign_id: made.id }],
  ] as const) {
    const reply = await app.call('POST', path, { body })
    assert.equal(reply.status, 403, path)
    assert.match(reply.text, /marketing_unsupported.*transactional mail only/s)
  }
  const { key } = await app.makeKey({ mode: 'test' })
  assert.equal((await app.call('POST', `${base}/sendNow`, { key, body: { confirm: true } })).status, 204)
})

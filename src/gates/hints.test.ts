// What is not there is refused with the request that shows what is.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../test/app.ts'

const app = await makeApp()

const step = { delay_minutes: 0, subject: 'S', html: '<p>x</p>' }
const body = { from: 'shop@example.com', to: 'ann@example.com', subject: 'S' }

const calls: [string, string, unknown, string][] = [
  ['GET', '/api/v1/messages/msg_nothing', undefined, 'GET /api/v1/messages'],
  ['POST', '/api/v1/messages/msg_nothing/cancel', {}, 'GET /api/v1/messages'],
  ['GET', '/api/v1/sandbox/messages/cap_nothing/raw', undefined, 'GET /api/v1/sandbox/messages'],
  ['DELETE', '/api/v1/suppressions/nobody@example.com', undefined, 'GET /api/v1/suppressions'],
  ['DELETE', '/api/v1/domains/nothing.example', undefined, 'GET /api/v1/domains'],
  ['GET', '/api/v1/campaigns/999/stats', undefined, 'GET /api/v1/campaigns'],
  ['POST', '/api/v1/campaigns/999/pause', {}, 'GET /api/v1/campaigns'],
  ['POST', '/api/v1/campaigns/999/cancel', { confirm: true }, 'GET /api/v1/campaigns'],
  ['POST', '/api/v1/campaigns/send', { campaign_id: 999, confirm: true }, 'GET /api/v1/campaigns'],
  ['POST', '/api/v1/campaigns/preview', { campaign_id: 999 }, 'GET /api/v1/campaigns'],
  ['POST', '/api/v1/campaigns/preview', { html: 'x', contact: 999 }, 'GET /v3/contacts'],
  ['POST', '/api/v1/campaigns/preview', { template_id: 999 }, 'GET /v3/smtp/templates'],
  [
    'POST',
    '/api/v1/campaigns/conversion',
    { email: 'a@b.example', amount: 1, campaign_id: 999 },
    'GET /api/v1/campaigns',
  ],
  ['POST', '/api/v1/transactional/send', { ...body, template_id: 999 }, 'GET /v3/smtp/templates'],
  ['GET', '/api/v1/automations/aut_nothing', undefined, 'GET /api/v1/automations'],
  ['PUT', '/api/v1/automations/aut_nothing', { name: 'x' }, 'GET /api/v1/automations'],
  ['DELETE', '/api/v1/automations/aut_nothing', undefined, 'GET /api/v1/automations'],
  [
    'POST',
    '/api/v1/automations',
    { name: 'a', trigger_type: 'list_addition', list_id: 999, steps: [step] },
    'GET /v3/contacts/lists',
  ],
  [
    'POST',
    '/api/v1/automations',
    {
      name: 'a',
      trigger_type: 'custom_event',
      event_name: 'e',
      steps: [{ delay_minutes: 0, template_id: 999 }],
    },
    'GET /v3/smtp/templates',
  ],
  ['POST', '/api/v1/deliverability/origins/stop', { import_id: 999, confirm: true }, 'GET /v3/processes'],
]

describe('the hint of what is not there names the request that lists what is', () => {
  for (const [method, path, given, listed] of calls)
    test(`${method} ${path} ${JSON.stringify(given) ?? ''}`, async () => {
      const { status, body } = await app.call(method, path, given === undefined ? {} : { body: given })
      assert.ok(status === 404 || status === 422, JSON.stringify(body))
      assert.ok(body.error.hint?.includes(listed), JSON.stringify(body))
      const [verb = '', address = ''] = listed.split(' ')
      assert.equal((await app.call(verb, address)).status, 200)
    })
})

test('a saved campaign that lacks its recipients gets them where it was saved', async () => {
  const saved = await app.call('POST', '/v3/emailCampaigns', {
    body: {
      name: 'C',
      subject: 'S',
      sender: { email: 'shop@example.com' },
      htmlContent: '<p>Hello all of you</p>',
    },
  })
  const { body } = await app.call('POST', '/api/v1/campaigns/send', { body: { campaign_id: saved.body.id } })
  assert.match(body.error.message, /no recipients/)
  assert.match(body.error.hint, /PUT \/v3\/emailCampaigns\/\{id\}/)
})

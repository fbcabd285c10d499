import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../test/until.ts'
import { keys } from '../contacts/unsubscribe/fixtures/people.ts'
import { captureTransport } from '../messages/capture.ts'
import { deliverThrough } from '../messages/fixtures/engine.ts'
import { app, base, call, create, db, shop } from './fixtures/campaigns.ts'
import { campaignMail } from './sending/campaign-mail.ts'
import { jobsOf } from './sending/fixtures/campaigns.ts'

const now = () => new Date()

/** Somebody whose category is kept by the number 2. */
async function gold() {
  const made = await shop(['anna'])
  const post = (path: string, body: unknown) => call(made.key, 'POST', path, body)
  const enumeration = [
    { value: 1, label: 'Silver' },
    { value: 2, label: 'Gold & more' },
  ]
  await post('/v3/contacts/attributes/category/TIER', { type: 'category', enumeration })
  await call(made.key, 'PUT', '/v3/contacts/anna@example.com', { attributes: { TIER: 'gold & more' } })
  return { ...made, post }
}

const subject = 'For {{ contact.TIER }}'
const htmlContent =
  '<p>Tier {{ contact.TIER }}.{% if contact.TIER == "Gold & more" %} Yes.{% endif %} ' +
  '<a href="{{ unsubscribe }}">Leave</a> <a href="{{ mirror }}">Page</a></p>'
const read = /<p>Tier Gold &amp; more\. Yes\./

test('templates read the label of a category in campaigns, their tests, previews and pages', async () => {
  const { key, listId, post } = await gold()
  const id = await create(key, { subject, htmlContent, recipients: { listIds: [listId] } })
  const preview = await post('/api/v1/campaigns/preview', { campaign_id: id, contact: 'anna@example.com' })
  assert.deepEqual([preview.body.subject, read.test(preview.body.html)], ['For Gold & more', true])
  const caught = async (count: number) =>
    until(async () => {
      const { body } = await call(key, 'GET', '/api/v1/sandbox/messages?to=anna@example.com')
      return body.data.length === count && body.data[0]
    }, 'the message')
  const needs = { db, now, unsubscribeKeys: async () => keys, baseUrl: 'http://test' }
  const stop = deliverThrough({
    db,
    now,
    transport: captureTransport(db, now),
    campaigns: campaignMail(needs),
  })
  const test = { emailTo: ['anna@example.com'] }
  assert.equal((await post(`${base}/${id}/sendTest`, test)).status, 204)
  const tested = await caught(1)
  assert.match(tested.subject, /For Gold & more/)
  assert.match(tested.html, read)
  assert.equal((await post(`${base}/${id}/sendNow`, { confirm: true })).status, 204)
  await jobsOf(db)('freeze', 'feed')
  const mail = await caught(2)
  assert.equal(mail.subject, 'For Gold & more')
  assert.match(mail.html, read)
  await stop()
  const [, path = ''] = /href="http:\/\/test(\/mirror\/[^"]+)"/.exec(mail.html) ?? []
  assert.match((await app.call('GET', path, { key: null })).text, read)
})

test('so do single messages and confirmations; the interface gives the number', async () => {
  const { key, listId, post } = await gold()
  const from = 'shop@example.com'
  const template = { templateName: 'T', subject, htmlContent, sender: { email: from }, isActive: true }
  const { body: made } = await post('/v3/smtp/templates', template)
  const shown = await call(key, 'GET', '/v3/contacts/anna@example.com')
  assert.equal(shown.body.attributes.TIER, 2)
  const sent = await post('/v3/smtp/email', { templateId: made.id, to: [{ email: 'anna@example.com' }] })
  assert.equal(sent.status, 201, sent.text)
  const optin = {
    ...{ ...template, tag: 'optin', subject: '{{ contact.TIER }} {{ params.TIER }}' },
    htmlContent: '<a href="{{ doubleoptin }}">Yes</a>',
  }
  const { body: confirming } = await post('/v3/smtp/templates', optin)
  const asked = {
    ...{ email: 'new@example.com', attributes: { TIER: 1 }, includeListIds: [listId] },
    ...{ templateId: confirming.id, redirectionUrl: 'https://shop.example/' },
  }
  assert.equal((await post('/v3/contacts/doubleOptinConfirmation', asked)).status, 201)
  const { body } = await call(key, 'GET', '/api/v1/messages')
  const subjects = body.data.map((one: { subject: string }) => one.subject)
  assert.deepEqual(subjects, ['Silver Silver', 'For Gold & more'])
})

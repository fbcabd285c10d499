import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'

const app = await makeApp()

test('a template knows the time of the call, in both namespaces', async () => {
  const subject = '{{ time_now }} {{ time_now|date:"2006" }}'
  const draft = { from: 'shop@example.com', to: 'anna@example.com', subject, text: 'Hello.', params: {} }
  const { body } = await app.call('POST', '/api/v1/messages/validate', { body: draft })
  const [moment = '', year] = body.rendered.subject.split(' ')
  assert.ok(Math.abs(Date.parse(moment) - Date.now()) < 600_000, moment)
  assert.equal(year, moment.slice(0, 4))
  const template = { templateName: 'T', subject, htmlContent: '<p>Hi {% now "2006" %}</p>', isActive: true }
  const made = await app.call('POST', '/v3/smtp/templates', {
    body: { ...template, sender: { email: 'shop@example.com', name: 'Shop' } },
  })
  assert.equal(made.status, 201, made.text)
  const shown = await app.call('POST', '/v3/smtp/template/preview', { body: { templateId: made.body.id } })
  assert.equal(shown.status, 200, shown.text)
  assert.ok(shown.text.includes(`<p>Hi ${year}</p>`), shown.text)
})

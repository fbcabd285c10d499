// What a caller of /v3 reads who sends a value of another type: what the field takes, and nothing else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../test/app.ts'

const app = await makeApp()

const mail = {
  sender: { email: 'shop@example.com' },
  to: [{ email: 'anna@example.com' }],
  subject: 'Hello',
  textContent: 'Hello.',
}

const told: [string, string, object, string][] = [
  ['POST', '/v3/smtp/email', { to: 'a@x' }, 'to must be a list.'],
  ['POST', '/v3/smtp/email', { sender: 's@x' }, 'sender must be an object.'],
  ['POST', '/v3/smtp/email', { params: 'x' }, 'params must be an object.'],
  [
    'POST',
    '/v3/smtp/email',
    { ...mail, attachment: [{ name: 'readme', content: 'AAAA' }] },
    'readme has no extension',
  ],
  [
    'POST',
    '/v3/smtp/email',
    { ...mail, attachment: [{ url: 'notaurl' }] },
    'url in attachment must be an http or https address',
  ],
  [
    'POST',
    '/v3/smtp/email',
    { ...mail, headers: { 'Disposition-Notification-To': 'a@b.co' } },
    'The header Disposition-Notification-To cannot be set.',
  ],
  ['POST', '/v3/webhooks', { events: 'sent' }, 'events must be a list.'],
  ['POST', '/v3/contacts', { emailBlacklisted: 'yes' }, 'emailBlacklisted must be true or false.'],
  ['POST', '/v3/contacts/lists', { folderId: 'x' }, 'folderId must be a whole number.'],
  ['POST', '/v3/emailCampaigns/1/sendTest', { emailTo: 'a@x' }, 'emailTo must be a list.'],
  ['PUT', '/v3/senders/1/validate', { otp: 'abc' }, 'otp must be a whole number.'],
  [
    'POST',
    '/v3/emailCampaigns/1/sendReport',
    { language: 'zz', email: { to: ['a@example.com'], body: 'x' } },
    'language must be one of fr, es, pt, it, de, en.',
  ],
  ['GET', '/v3/contacts?offset=99999999999999999999', {}, 'offset must be between 0 and 9007199254740991'],
  ['GET', '/v3/contacts?limit=0x10', {}, 'limit must be a whole number.'],
  ['DELETE', '/v3/contacts/lists/1e1', {}, 'id must be a whole number.'],
  ['GET', '/v3/contacts?filter=equals(NOPE,"X")', {}, 'There is no attribute NOPE, which filter names'],
  ['GET', '/v3/contacts?filter=NOPE', {}, 'filter must be equals(ATTRIBUTE,"value")'],
]

for (const [method, path, body, message] of told) {
  test(`${method} ${path} ${JSON.stringify(body)}`, async () => {
    const reply = await app.call(method, path, method === 'GET' ? {} : { body })
    assert.deepEqual([reply.status, reply.body.message], [400, message])
  })
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'

const app = await makeApp({ deliver: true })
const template =
  '<p>Hello</p><a href="{{ unsubscribe }}">leave</a> <a href="{{ preferences_url }}">choose</a>'

type Captured = { html: string; text: string; message_id: string; headers: { name: string; value: string }[] }

async function captured(to: string): Promise<Captured> {
  return until(async () => {
    const { body } = await app.call('GET', `/api/v1/sandbox/messages?to=${to}`)
    return body.data[0]
  }, `the message to ${to}`)
}

const senderIn = ({ headers }: Captured) => headers.find(({ name }) => name === 'From')?.value ?? ''

const tokensIn = (text: string) =>
  [...text.matchAll(/http:\/\/test\/(?:u|preferences)\/([\w.-]+)/g)].map(([, token]) => token)

test('every recipient gets links of their own, which are not tracked and work', async () => {
  const to = ['ann@example.org', 'bob@example.org'].map((email) => ({ email }))
  const sender = { email: 'shop@example.com' }
  const body = { sender, to, subject: 'Hello', htmlContent: template }
  assert.equal((await app.call('POST', '/v3/smtp/email', { body })).status, 201)
  const [ann, bob] = [await captured('ann@example.org'), await captured('bob@example.org')]
  const [first, second, ...others] = tokensIn(ann.html)
  assert.ok(first && first === second && others.length === 0, ann.html)
  assert.notEqual(first, tokensIn(bob.html)[0])
  assert.ok(ann.text.includes(`http://test/u/${first}`), ann.text)
  const left = await app.call('POST', `/v3/unsubscribe/${first}`)
  assert.deepEqual([left.status, left.body.email], [200, 'ann@example.org'])
  const events = await app.call('GET', '/v3/smtp/statistics/events?event=unsubscribed')
  assert.equal(events.body.events[0].email, 'ann@example.org')
})

test('the own namespace has them too, and does not miss them', async () => {
  const body = {
    from: 'shop@example.com',
    to: 'cleo@example.org',
    subject: 'Hello',
    html: template,
    params: {},
  }
  const { body: verdict } = await app.call('POST', '/api/v1/messages/validate', { body })
  assert.ok(!verdict.warnings.some(({ code }: { code: string }) => code === 'missing_variable'))
  assert.equal((await app.call('POST', '/api/v1/transactional/send', { body })).status, 202)
  const { html } = await captured('cleo@example.org')
  assert.equal(tokensIn(html).length, 2)
  assert.doesNotMatch(html, /invalid/)
})

test('everybody has an address, whether a contact or not', async () => {
  const [subject, htmlContent] = ['To {{ contact.EMAIL }}', '<p>For {{ contact.EMAIL }}.</p>']
  const sender = { email: 'shop@example.com' }
  const made = { templateName: 'T', subject, htmlContent, sender, isActive: true }
  const { body: stored } = await app.call('POST', '/v3/smtp/templates', { body: made })
  const to = (name: string) => [{ email: `${name}@example.org` }]
  const v3 = [
    { subject, htmlContent, to: to('inline') },
    { templateId: stored.id, to: to('stored') },
    { subject, htmlContent, messageVersions: [{ to: to('one') }, { to: to('two') }] },
  ]
  for (const body of v3) {
    const sent = await app.call('POST', '/v3/smtp/email', { body: { sender, ...body } })
    assert.equal(sent.status, 201, sent.text)
  }
  const own = [
    { to: 'own@example.org', template_id: stored.id },
    { to: 'given@example.org', subject, html: htmlContent, params: {} },
  ].map((one) => ({ from: 'shop@example.com', ...one }))
  for (const body of own) {
    const { body: verdict } = await app.call('POST', '/api/v1/messages/validate', { body })
    assert.ok(!verdict.warnings.some(({ code }: { code: string }) => code === 'missing_variable'))
    assert.equal((await app.call('POST', '/api/v1/transactional/send', { body })).status, 202)
  }
  for (const name of ['inline', 'stored', 'one', 'two', 'own', 'given'])
    assert.match((await captured(`${name}@example.org`)).html, new RegExp(`For ${name}@example\\.org\\.`))
  const asked = { templateId: stored.id, email: 'nobody@example.org' }
  const { body: shown } = await app.call('POST', '/v3/smtp/template/preview', { body: asked })
  assert.equal(shown.subject, 'To nobody@example.org')
})

test('a stored template names its sender rendered; what the call gives takes its place', async () => {
  const sender = { email: 'shop@example.com', name: 'Team {{ params.team }}' }
  const stored = { templateName: 'T', subject: 'S', htmlContent: '<p>stored</p>', sender, isActive: true }
  const made = await app.call('POST', '/v3/smtp/templates', { body: stored })
  const [template_id, params] = [made.body.id, { team: 'Red' }]
  const send = async (to: string, more: object) => {
    const body = { to, template_id, ...more }
    assert.equal((await app.call('POST', '/api/v1/transactional/send', { body })).status, 202)
    return captured(to)
  }
  const plain = await send('plain@example.org', { params })
  assert.equal(senderIn(plain), 'Team Red <shop@example.com>')
  assert.match(plain.html, /stored/)
  const given = { params, from: 'Us {{ params.team }} <shop@example.com>', text: 'Own {{ params.team }}' }
  const own = await send('text@example.org', given)
  assert.match(senderIn(own), /Us \{\{ params.team \}\}/)
  assert.deepEqual([own.text.trim(), own.html.includes('stored')], ['Own Red', true])
  const other = await send('html@example.org', { params, html: '<p>own {{ params.team }}</p>' })
  assert.deepEqual([other.html.includes('own Red'), other.html.includes('stored')], [true, false])
  const body = { to: 'eva@example.org', template_id }
  const { body: verdict } = await app.call('POST', '/api/v1/messages/validate', { body })
  assert.match(JSON.stringify(verdict.warnings), /params\.team/)
})

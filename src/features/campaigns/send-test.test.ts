import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { sql } from '../../kernel/sql.ts'
import { env, keys } from '../contacts/unsubscribe/fixtures/people.ts'
import {
  addMessage,
  base,
  call,
  campaign,
  create as createIdle,
  app as idle,
  shop,
} from './fixtures/campaigns.ts'
import { campaignLinks } from './links.ts'

describe('sendTest', async () => {
  const app = await makeApp({ env, deliver: true })

  const post = (path: string, body: object) => app.call('POST', path, { body })
  const create = async (more: object = {}): Promise<number> =>
    (await post(base, { ...campaign, ...more })).body.id

  const captured = (to: string) =>
    until(
      async () => (await app.call('GET', `/api/v1/sandbox/messages?to=${to}`)).body.data[0],
      `mail to ${to}`,
    )

  test('sends what the real one would be, marked, untracked and uncounted', async () => {
    const made = await post('/v3/contacts', { email: 'anna@example.com', attributes: { FIRSTNAME: 'Anna' } })
    assert.equal(made.status, 201, made.text)
    const id = await create({
      htmlContent: '<p>Dear {{ contact.FIRSTNAME }}</p><a href="https://a.example">a</a>',
    })
    const reply = await post(`${base}/${id}/sendTest`, {
      emailTo: ['anna@example.com', 'Nobody@example.com'],
    })
    assert.equal(reply.status, 204, reply.text)
    assert.equal(reply.headers.get('x-posthorn-warnings'), 'footer with an unsubscribe link was added')
    const mail = await captured('anna@example.com')
    assert.equal(mail.subject, '[TEST] Hello Anna')
    assert.match(mail.html, /<p>Dear Anna<\/p><a href="https:\/\/a\.example">a<\/a>/)
    assert.match(mail.html, /<a href="http:\/\/test\/u\/test"/)
    assert.doesNotMatch(mail.html, /\/t\//, 'neither pixel nor tracked link')
    assert.match(JSON.stringify(mail.headers), /List-Unsubscribe=One-Click/i)
    assert.equal((await captured('nobody@example.com')).subject, '[TEST] Hello')
    for (const path of ['/u/test', '/preferences/test'])
      for (const method of ['GET', 'POST']) {
        const page = await app.call(method, path, { key: null })
        assert.equal(page.status, 200)
        assert.match(page.text, /part of a test/)
      }
    const found = (await app.call('GET', `${base}/${id}`)).body
    assert.deepEqual([found.testSent, found.status, found.progress.total], [true, 'draft', 0])
    const messages = (await app.call('GET', '/api/v1/messages?to=anna@example.com')).body.data
    assert.deepEqual([messages[0].source, messages[0].campaign_id], ['campaign', null])
  })

  test('and previews read what is calculated of a contact', async () => {
    await post('/v3/contacts/attributes/normal/POINTS', { type: 'float' })
    await post('/v3/contacts/attributes/calculated/TWICE', { value: 'POINTS*2' })
    await post('/v3/contacts', { email: 'calc@example.com', attributes: { POINTS: 7 } })
    const id = await create({ subject: 'You have {{ contact.TWICE }}' })
    assert.equal((await post(`${base}/${id}/sendTest`, { emailTo: ['calc@example.com'] })).status, 204)
    assert.equal((await captured('calc@example.com')).subject, '[TEST] You have 14')
    const asked = { campaign_id: id, contact: 'calc@example.com' }
    const { subject, missing_variables } = (await post('/api/v1/campaigns/preview', asked)).body
    assert.deepEqual([subject, missing_variables.includes('contact.TWICE')], ['You have 14', false])
  })

  test('is no traffic: in no figures, reports or webhooks, and without the tag', async () => {
    const { key } = await app.makeAccount()
    const ask = async (path: string) => (await app.call('GET', path, { key })).body
    const webhook = { url: 'https://shop.example/hook', events: ['request', 'delivered'] }
    assert.equal((await app.call('POST', '/v3/webhooks', { key, body: webhook })).status, 201)
    const made = await app.call('POST', base, { key, body: { ...campaign, tag: 'spring' } })
    const body = { emailTo: ['eve@example.com'] }
    assert.equal((await app.call('POST', `${base}/${made.body.id}/sendTest`, { key, body })).status, 204)
    const mail = await until(async () => {
      const [found] = (await ask('/api/v1/messages')).data
      return found?.status === 'delivered' && found
    }, 'the test to be delivered')
    assert.deepEqual([mail.subject, mail.tag], ['[TEST] Hello', null])
    const engagement = await ask('/api/v1/stats/engagement')
    assert.deepEqual([engagement.sent, engagement.delivered], [0, 0])
    assert.deepEqual((await ask('/api/v1/stats/deliverability')).data, [])
    const { requests, delivered } = await ask('/v3/smtp/statistics/aggregatedReport')
    assert.deepEqual([requests, delivered], [0, 0])
    assert.deepEqual((await ask('/v3/smtp/statistics/events')).events, [])
    const queued = await app.pools.db.run(sql`
      -- all accounts: the test made one webhook
      select from webhook_queue`)
    assert.equal(queued, 0)
    assert.equal((await ask('/api/v1/usage')).day.sent, 1)
  })

  test('is refused where the attributes of its reader would hide the way out', async () => {
    const html = '<p>Hello {{ contact.FIRSTNAME }}</p>{% if contact.FIRSTNAME %}<!--{% endif %}'
    const id = await create({ htmlContent: html })
    await post('/v3/contacts', { email: 'zoe@example.com', attributes: { FIRSTNAME: 'Zoe' } })
    const test = (email: string) => post(`${base}/${id}/sendTest`, { emailTo: [email] })
    assert.equal((await test('noname@example.com')).status, 204)
    const { status, body } = await test('zoe@example.com')
    assert.deepEqual([status, body.code], [400, 'invalid_parameter'])
    assert.match(body.message, /^htmlContent .*<!-- is never closed/)
    const asked = { campaign_id: id, contact: 'zoe@example.com' }
    assert.equal((await post('/api/v1/campaigns/preview', asked)).body.error.code, 'template_invalid')
  })

  test('warns of nothing where the template has its link', async () => {
    const reply = await post(`${base}/${await create()}/sendTest`, { emailTo: ['bob@example.com'] })
    assert.deepEqual([reply.status, reply.headers.get('x-posthorn-warnings')], [204, null])
  })

  test('refuses suppressed, missing and bad addresses', async () => {
    const path = `${base}/${await create()}/sendTest`
    await post('/api/v1/suppressions', { email: 'gone@example.com' })
    const refused = await post(path, { emailTo: ['gone@example.com', 'fine@example.com'] })
    assert.equal(refused.status, 400)
    assert.deepEqual(refused.body.blackListedEmails, ['gone@example.com'])
    assert.deepEqual([refused.body.unexistingEmails, refused.body.withoutListEmails], [[], []])
    const many = Array.from({ length: 51 }, (_, i) => `a${i}@example.com`)
    for (const emailTo of [undefined, null, [], ['nobody'], many])
      assert.equal((await post(path, { emailTo })).status, 400)
  })
})

describe('campaign.preview', async () => {
  const path = '/api/v1/campaigns/preview'
  const { key } = await shop(['anna'])

  test('merges for a contact, or with params alone', async () => {
    const html = '<p>{{ contact.FIRSTNAME }} {{ params.sale }} {{ contact.CITY }}</p>'
    const asked = {
      html,
      subject: 'For {{ contact.EMAIL }}',
      contact: 'anna@example.com',
      params: { sale: '5 < 6' },
    }
    const { status, body } = await call(key, 'POST', path, asked)
    assert.equal(status, 200)
    assert.equal(body.subject, 'For anna@example.com')
    assert.match(body.html, /^<p>anna 5 &lt; 6 <\/p>/)
    assert.match(body.html, /\/u\/test/, 'with the footer that a real one would get')
    assert.match(body.text, /^anna 5 < 6/)
    assert.deepEqual(body.missing_variables, ['contact.CITY'])
    const plain = await call(key, 'POST', path, { html: '{{ contact.FIRSTNAME }}{{ unsubscribe }}' })
    assert.deepEqual([plain.body.html, plain.body.subject], ['http://test/u/test', ''])
    assert.deepEqual(plain.body.missing_variables, ['contact.FIRSTNAME'])
    const mirror = await call(key, 'POST', path, { html: '{{ mirror }}{{ unsubscribe }}' })
    assert.equal(mirror.body.html, 'http://test/mirror/testhttp://test/u/test')
    const page = await idle.call('GET', '/mirror/test', { key: null })
    assert.equal(page.status, 200)
    assert.match(page.text, /part of a test/)
  })

  test('shows a campaign and a template', async () => {
    const id = await createIdle(key, {
      params: { a: 1 },
      previewText: 'Soon',
      htmlContent: '<p>{{ params.a }} now</p>',
    })
    const shown = await call(key, 'POST', path, { campaign_id: id, contact: 'anna@example.com' })
    assert.equal(shown.body.subject, 'Hello anna')
    assert.match(shown.body.html, /Soon<\/div><p>1 now<\/p>/)
    const template = await call(key, 'POST', '/v3/smtp/templates', {
      templateName: 'T',
      subject: 'Of T',
      sender: { email: 'a@shop.example' },
      htmlContent: '<p>Template</p>',
      isActive: true,
    })
    const of = await call(key, 'POST', path, { template_id: template.body.id })
    assert.equal(of.body.subject, 'Of T')
  })

  test('refuses what cannot be shown', async () => {
    const other = await shop()
    const id = await createIdle(other.key)
    const bad: [object, number, string][] = [
      [{}, 422, 'content_missing'],
      [{ html: '<p>{{ a | nofilter }}</p>' }, 422, 'template_invalid'],
      [{ html: '<p>x</p>', subject: '{{' }, 422, 'template_invalid'],
      [{ html: '<p>x</p>', campaign_id: 1 }, 422, 'invalid_parameter'],
      [{ campaign_id: id }, 404, 'not_found'],
      [{ html: '<p>x</p>', contact: 'bob@example.com' }, 404, 'not_found'],
      [{ html: '<p>x</p>', contact: 999_999 }, 404, 'not_found'],
      [{ html: '<p>x</p>', contact: 'bob' }, 422, 'invalid_parameter'],
      [{ html: '<p>x</p>', contact: 2 ** 53 }, 422, 'invalid_parameter'],
      [{ template_id: 999_999 }, 422, 'invalid_parameter'],
    ]
    for (const [asked, status, code] of bad) {
      const reply = await call(key, 'POST', path, asked)
      assert.deepEqual([reply.status, reply.body.error?.code], [status, code], JSON.stringify(asked))
    }
    const blamed = async (asked: object) => {
      const { param, details } = (await call(key, 'POST', path, asked)).body.error
      return [param, details[0].param]
    }
    assert.deepEqual(await blamed({ campaign_id: id }), ['campaign_id', 'campaign_id'])
    assert.deepEqual(await blamed({ template_id: 999_999 }), ['template_id', 'template_id'])
    const several = await call(key, 'POST', path, { contact: 'bob' })
    assert.equal(several.body.error.details.length, 2)
  })
})

test('the page of a message has the data of its recipient until they are erased', async () => {
  const { accountId, key } = await shop(['anna'])
  const id = await createIdle(key, { htmlContent: '<p>Dear {{ contact.FIRSTNAME }}</p>{{ unsubscribe }}' })
  const messageId = await addMessage({ accountId, id, name: 'anna', status: 'delivered' })
  const of = { accountId, campaignId: String(id), email: 'anna@example.com', messageId }
  const links = campaignLinks({ keys, baseUrl: '' }, of)
  const page = async () => (await idle.call('GET', links.mirror, { key: null })).text
  assert.ok(
    (await page()).endsWith(`<title>Hello anna</title><p>Dear anna</p>http://test${links.unsubscribe}`),
  )
  await call(key, 'POST', '/api/v1/contacts/erase', { email: 'anna@example.com', confirm: true })
  assert.equal((await idle.call('GET', links.mirror, { key: null })).status, 404)
  const theirs = await shop([])
  const foreign = campaignLinks({ keys, baseUrl: '' }, { ...of, accountId: theirs.accountId })
  assert.equal((await idle.call('GET', foreign.mirror, { key: null })).status, 404)
})

test('the page of a message of an A/B test has the subject that its recipient got', async () => {
  const { accountId, key } = await shop(['anna'])
  const versions = { abTesting: true, subjectA: 'The first', subjectB: 'The other', splitRule: 10 }
  const test = { ...versions, winnerCriteria: 'open', winnerDelay: 1 }
  const id = await createIdle(key, { htmlContent: '<p>News</p>{{ unsubscribe }}', ...test })
  const messageId = await addMessage({ accountId, id, name: 'anna', status: 'delivered' })
  const of = { accountId, campaignId: String(id), email: 'anna@example.com', messageId }
  const { mirror } = campaignLinks({ keys, baseUrl: '' }, of)
  for (const [variant, winner, subject] of [
    ['A', 'B', 'The first'],
    ['B', 'A', 'The other'],
    ['R', 'A', 'The first'],
    ['R', 'B', 'The other'],
  ]) {
    await idle.pools.db.run(sql`
      update messages set variant = ${variant} where account_id = ${accountId} and id = ${messageId}`)
    await idle.pools.db.run(sql`
      update campaigns set winner = ${winner} where account_id = ${accountId} and id = ${id}`)
    const { text } = await idle.call('GET', mirror, { key: null })
    assert.ok(text.includes(`<title>${subject}</title>`), `${variant} ${winner}: ${text}`)
  }
})

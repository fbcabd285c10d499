import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import PostalMime from 'postal-mime'
import { type AppOptions, makeApp } from '../../../../test/app.ts'
import { until } from '../../../../test/until.ts'

const asked: string[] = []
const fetchClient: AppOptions['fetchClient'] = {
  request: async ({ url }) => {
    asked.push(url)
    const status = url.includes('gone') ? 404 : 200
    const body = url.includes('large') ? Buffer.alloc(12 * 1024 * 1024) : Buffer.from(`contents of ${url}`)
    return { status, headers: {}, body }
  },
}
const env = { POSTHORN_RATE_LIMIT_FACTOR: '100', POSTHORN_SECRET_KEY: '07'.repeat(32) }
const app = await makeApp({ deliver: true, env, fetchClient })
const base = '/v3/smtp/templates'
const terms = 'https://files.example/our%20terms.pdf'

async function create(attachmentUrl: string, more = {}): Promise<number> {
  const sender = { email: 'shop@example.com' }
  const written = {
    templateName: 'Terms',
    subject: 'Terms',
    htmlContent: '<p>See the file {{ doubleoptin }}</p>',
  }
  const body = { ...written, sender, isActive: true, attachmentUrl, ...more }
  const reply = await app.call('POST', base, { body })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

async function filesTo(email: string): Promise<string[]> {
  const { id } = await until(async () => {
    const { body } = await app.call('GET', `/api/v1/sandbox/messages?to=${encodeURIComponent(email)}`)
    return body.data[0]
  }, `mail to ${email}`)
  const { text } = await app.call('GET', `/api/v1/sandbox/messages/${id}/raw`)
  const { attachments } = await PostalMime.parse(text)
  return attachments.map(({ filename, mimeType, content }) => {
    return `${filename} ${mimeType} ${Buffer.from(content as ArrayBuffer)}`
  })
}

const own = [`our terms.pdf application/pdf contents of ${terms}`]

describe('the file of a template', () => {
  test('is kept, shown, changed and taken away', async () => {
    const id = await create(terms)
    const shown = async () => (await app.call('GET', `${base}/${id}`)).body.attachmentUrl
    assert.equal(await shown(), terms)
    await app.call('PUT', `${base}/${id}`, { body: { subject: 'Other' } })
    assert.equal(await shown(), terms)
    await app.call('PUT', `${base}/${id}`, { body: { attachmentUrl: '' } })
    assert.equal(await shown(), '')
    assert.deepEqual(asked, [])
  })

  test('is attached by every way of sending it, beside what is given', async () => {
    const templateId = await create(terms)
    const post = async (path: string, body: object) => {
      const reply = await app.call('POST', path, { body })
      assert.ok(reply.status < 300, reply.text)
    }
    const attachment = [{ name: 'a.txt', content: Buffer.from('a').toString('base64') }]
    await post('/v3/smtp/email', { templateId, to: [{ email: 'v3@example.com' }], attachment })
    assert.deepEqual(await filesTo('v3@example.com'), ['a.txt text/plain a', ...own])
    await post('/api/v1/transactional/send', { template_id: templateId, to: 'own@example.com' })
    assert.deepEqual(await filesTo('own@example.com'), own)
    await post(`${base}/${templateId}/sendTest`, { emailTo: ['test@example.com'] })
    assert.deepEqual(await filesTo('test@example.com'), own)
    const optin = await create(terms, { tag: 'optin' })
    const { body: list } = await app.call('POST', '/v3/contacts/lists', { body: { name: 'l' } })
    const rest = { includeListIds: [list.id], redirectionUrl: 'https://example.com/' }
    const asking = { email: 'doi@example.com', templateId: optin, ...rest }
    await post('/v3/contacts/doubleOptinConfirmation', asking)
    assert.deepEqual(await filesTo('doi@example.com'), own)
  })

  test('is that of each version', async () => {
    const [plain, other] = [await create(''), await create('https://files.example/b.csv')]
    const versions = [plain, other].map((templateId, i) => ({
      templateId,
      to: [{ email: `version${i}@example.com` }],
    }))
    const body = { templateId: plain, messageVersions: versions }
    assert.equal((await app.call('POST', '/v3/smtp/email', { body })).status, 201)
    assert.deepEqual(await filesTo('version0@example.com'), [])
    assert.deepEqual(await filesTo('version1@example.com'), [
      'b.csv text/csv contents of https://files.example/b.csv',
    ])
  })

  test('that cannot be read refuses the send; nothing goes out without it', async () => {
    const templateId = await create('https://files.example/gone.pdf')
    const body = { templateId, to: [{ email: 'without@example.com' }] }
    const reply = await app.call('POST', '/v3/smtp/email', { body })
    assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_parameter'])
    assert.match(reply.body.message, /gone\.pdf could not be read: it answered 404/)
    const { body: list } = await app.call('GET', '/api/v1/messages?to=without@example.com')
    assert.deepEqual(list.data, [])
  })

  test('that cannot be read is found by a dry run, with the field that the own namespace has for it', async () => {
    const [gone, whole] = [await create('https://files.example/gone.pdf'), await create(terms)]
    const dry = async (template_id: number) => {
      const body = { template_id, to: 'dry@example.com' }
      return (await app.call('POST', '/api/v1/messages/validate', { body })).body
    }
    const refused = { template_id: gone, to: 'own-without@example.com' }
    const { body: sent } = await app.call('POST', '/api/v1/transactional/send', { body: refused })
    assert.match(sent.error.message, /gone\.pdf could not be read: it answered 404/)
    const { code, message, param } = sent.error
    assert.deepEqual([code, param], ['invalid_parameter', 'template_id'])
    const found = await dry(gone)
    assert.deepEqual([found.verdict, found.blocking], ['blocked', [{ code, message, param }]])
    const fits = await dry(whole)
    assert.deepEqual(fits.blocking, [])
    assert.ok(fits.estimated_size_bytes > found.estimated_size_bytes)
  })

  test('that is large goes to some authors and not to fifty, and once into a request', async () => {
    const [one, other] = [
      await create('https://files.example/large.pdf'),
      await create('https://files.example/large2.pdf'),
    ]
    const many = { emailTo: Array.from({ length: 50 }, (_, i) => `author${i}@example.com`) }
    const reply = await app.call('POST', `${base}/${one}/sendTest`, { body: many })
    assert.deepEqual([reply.status, reply.body.code], [413, 'payload_too_large'])
    const messageVersions = [one, other].map((templateId) => ({
      templateId,
      to: [{ email: 'v@example.com' }],
    }))
    const { status, body } = await app.call('POST', '/v3/smtp/email', {
      body: { templateId: one, messageVersions },
    })
    assert.deepEqual([status, body.code], [413, 'payload_too_large'])
  })

  test('goes with a campaign made of it, and with its test', async () => {
    const templateId = await create(terms)
    const body = { name: 'c', templateId, sender: { email: 'shop@example.com' } }
    const { body: made } = await app.call('POST', '/v3/emailCampaigns', { body })
    const path = `/v3/emailCampaigns/${made.id}`
    assert.equal((await app.call('GET', path)).body.attachmentUrl, terms)
    const tested = await app.call('POST', `${path}/sendTest`, { body: { emailTo: ['author@example.com'] } })
    assert.equal(tested.status, 204, tested.text)
    assert.deepEqual(await filesTo('author@example.com'), own)
    await app.call('PUT', path, { body: { attachmentUrl: '' } })
    assert.equal((await app.call('GET', path)).body.attachmentUrl, '')
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { scopeNames } from '../../kernel/scope.ts'

const app = await makeApp()
const get = (path: string) => app.call('GET', path, { key: null })

/** Addresses that a page loads or leads to, relative ones as they stand. */
const addressesIn = (html: string) =>
  [...html.matchAll(/(?:src|href|action)="([^"]*)"/g)].map(([, found = '']) => found)

const outside = /(?:https?:)?\/\/(?!127\.0\.0\.1|localhost|test\b)[a-z0-9.-]+/gi

describe('/docs', () => {
  test('answers without a key, and / leads there', async () => {
    const page = await get('/docs')
    assert.equal(page.status, 200)
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
    const root = await get('/')
    assert.deepEqual([root.status, root.headers.get('location')], [302, '/docs'])
  })

  test('loads its parts from this service only, and they are there', async () => {
    const { text } = await get('/docs')
    const addresses = addressesIn(text)
    assert.ok(addresses.some((address) => address.endsWith('.js')))
    assert.ok(addresses.some((address) => address.endsWith('.css')))
    for (const address of addresses) {
      assert.doesNotMatch(address, /^(https?:)?\/\//)
      const { status } = await get(new URL(address, 'http://base/docs').pathname)
      assert.equal(status, 200, address)
    }
  })

  test('names no outside address, neither in the page nor in what starts it', async () => {
    const { text } = await get('/docs')
    const starter = addressesIn(text).find((address) => address.includes('initializer'))
    assert.ok(starter)
    const { text: script } = await get(new URL(starter, 'http://base/docs').pathname)
    const withoutRemarks = script.replaceAll(/^\s*\/\/.*$/gm, '')
    for (const part of [text, withoutRemarks]) assert.deepEqual(part.match(outside), null)
    assert.match(script, /"?validatorUrl"?: ?null/)
  })

  test('fits telephones, and tells whoever runs no scripts where to read', async () => {
    for (const path of ['/docs', '/docs/']) {
      const { text } = await get(path)
      assert.match(text, /<head>\s*<meta name="viewport" content="width=device-width, initial-scale=1">/)
      assert.match(text, /<noscript>.*\/openapi\.json.*<\/noscript>/)
    }
  })

  test('forbids the browser to load anything from elsewhere', async () => {
    const policy = (await get('/docs')).headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'self'/)
    assert.doesNotMatch(policy, /default-src[^;]*\*/)
    assert.doesNotMatch(policy, /script-src[^;]*'unsafe-inline'/)
  })

  test('shows the very document of /openapi.json', async () => {
    const [shown, document] = [await get('/docs/json'), await get('/openapi.json')]
    assert.deepEqual(shown.body, document.body)
  })
})

describe('/openapi.json', () => {
  test('has every operation with its scope, limit and error answers', async () => {
    const { body, headers } = await get('/openapi.json')
    assert.match(headers.get('content-type') ?? '', /^application\/json/)
    assert.match(body.openapi, /^3\.1\./)
    for (const op of app.operations) {
      const described = body.paths[op.path]?.[op.method.toLowerCase()]
      assert.ok(described, op.name)
      assert.deepEqual([described['x-scope'], described['x-effect']], [op.scope, op.effect])
      if (op.public) assert.deepEqual(described.security, [])
      else for (const status of [401, 429]) assert.ok(described.responses[status], `${op.name} ${status}`)
    }
    const ids = Object.values(body.paths).flatMap((path) =>
      Object.values(path as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
    )
    assert.equal(new Set(ids).size, app.operations.length)
  })

  test('with ?operation= has that operation alone, and the schemas it needs', async () => {
    const whole = (await get('/openapi.json')).body
    for (const [id, path, error] of [
      ['campaign.send', '/api/v1/campaigns/send', 'Error'],
      ['v3.list.create', '/v3/contacts/lists', 'V3Error'],
    ] as const) {
      const { body, text } = await get(`/openapi.json?operation=${id}`)
      assert.deepEqual(body.paths, { [path]: { post: whole.paths[path].post } })
      assert.deepEqual(body.components.schemas, { [error]: whole.components.schemas[error] })
      assert.ok(text.length < 10_000, `${text.length}`)
    }
    const unknown = await get('/openapi.json?operation=campaign_send')
    assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'not_found'])
    assert.match(unknown.body.error.message, /campaign_send\. Did you mean campaign\.send\?/)
    const bare = await get('/openapi.json?operation=sms.send')
    assert.match(bare.body.error.message, /Did you mean v3\.sms\.send\?/)
  })

  test('tells which fields a body needs, and which answers have none', async () => {
    const { paths } = (await get('/openapi.json')).body
    const bodyOf = (path: string) => paths[path].post.requestBody.content['application/json'].schema
    assert.deepEqual(bodyOf('/v3/transactionalSMS/sms').required, ['sender', 'recipient', 'content'])
    assert.deepEqual(bodyOf('/api/v1/domains').required, ['domain'])
    assert.equal(bodyOf('/api/v1/domains').additionalProperties, false)
    // There what is unknown is not refused.
    assert.equal('additionalProperties' in bodyOf('/v3/transactionalSMS/sms'), false)
    const { tag } = bodyOf('/v3/transactionalSMS/sms').properties
    assert.deepEqual([tag.anyOf.length, tag.anyOf.at(-1)], [2, { type: 'null' }])
    assert.deepEqual(paths['/v3/smtp/blockedDomains'].post.responses[201], { description: 'Done' })
    assert.match(paths['/api/v1/capabilities'].get.responses[422].description, /unknown_parameter/)
  })

  test('names where the service is', async () => {
    assert.deepEqual((await get('/openapi.json')).body.servers, [{ url: 'http://test' }])
  })
})

describe('/llms.txt', () => {
  test('is plain text that names every operation, every scope and where to go on', async () => {
    const { text, headers } = await get('/llms.txt')
    assert.match(headers.get('content-type') ?? '', /^text\/plain; charset=utf-8/)
    for (const op of app.operations)
      assert.ok(text.includes(`\`${op.method} ${op.path}\` ${op.summary}`), op.name)
    for (const scope of scopeNames) assert.ok(text.includes(`\`${scope}\``), scope)
    for (const path of [
      '/openapi.json',
      '/openapi.json?operation=campaign.send',
      '/mcp',
      '/api/v1/capabilities',
    ])
      assert.ok(text.includes(`http://test${path}`))
    assert.match(text, /`POST \/v3\/contacts\/lists` .*\(v3\.list\.create, /)
  })

  test('tells the way to a newsletter, and that way leads there', async () => {
    const ask = async (path: string, body: object) => (await app.call('POST', path, { body })).body
    const { text } = await get('/llms.txt')
    for (const word of ['`GET /v3/contacts/lists`', '`POST /v3/contacts/import`', '"confirm": true'])
      assert.ok(text.includes(word), word)
    const { id } = await ask('/v3/contacts/lists', { name: 'Readers' })
    const contact = 'reader@example.com'
    await ask('/v3/contacts', { email: contact, attributes: { FIRSTNAME: 'R' }, listIds: [id] })
    const jsonBody = [{ email: 'other@example.com', attributes: { FIRSTNAME: 'O' } }]
    assert.ok((await ask('/v3/contacts/import', { jsonBody, listIds: [id] })).processId)
    const content = { subject: 'News', html: '<p>Hello {{ contact.FIRSTNAME }}</p>' }
    assert.match((await ask('/api/v1/campaigns/preview', { ...content, contact })).html, /Hello R/)
    const from = 'shop@example.com'
    assert.ok((await ask('/api/v1/messages/validate', { ...content, from, to: contact })).verdict)
    const campaign = { ...content, name: 'News', from, list_id: id }
    const asked = await ask('/api/v1/campaigns/send', campaign)
    assert.equal(asked.error.code, 'confirmation_required')
    const sent = await ask('/api/v1/campaigns/send', { ...campaign, confirm: true })
    const stats = await app.call('GET', `/api/v1/campaigns/${sent.campaign_id}/stats`)
    assert.equal(stats.status, 200)
  })
})

test('pages take no other method and no key is asked for', async () => {
  for (const path of ['/docs', '/openapi.json', '/llms.txt']) {
    assert.equal((await app.call('HEAD', path, { key: null })).status, 200, path)
    const { status, body } = await app.call('POST', path, { key: null })
    assert.ok([404, 405].includes(status), `${path} ${status}`)
    assert.ok(body.error.code)
  }
})

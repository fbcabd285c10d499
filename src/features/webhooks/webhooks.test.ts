// Webhooks as objects: made, read, changed, deleted; their secrets.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { bytes, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const url = 'https://203.0.114.7/hook'
const plain = { url, events: ['delivered', 'hardBounce'] }

const call = (key: string, method: string, path: string, body?: unknown) =>
  app.call(method, path, { key, body })

async function made(body: object = plain) {
  const { accountId, key } = await app.makeAccount()
  const reply = await call(key, 'POST', '/v3/webhooks', body)
  assert.equal(reply.status, 201, reply.text)
  return { accountId, key, id: reply.body.id as number, secret: reply.body.secret as string }
}

describe('a webhook', () => {
  test('is made, listed by its type, read, changed and deleted', async () => {
    const { key, id } = await made({ ...plain, description: 'Mine', batched: true })
    const { body: second } = await call(key, 'POST', '/v3/webhooks', {
      ...plain,
      type: 'marketing',
      events: ['spam'],
    })
    const { body: shown } = await call(key, 'GET', `/v3/webhooks/${id}`)
    const { createdAt, modifiedAt, ...rest } = shown
    assert.ok(!Number.isNaN(Date.parse(createdAt)) && createdAt === modifiedAt)
    const common = { id, url, type: 'transactional', channel: 'email', status: 'active' }
    assert.deepEqual(rest, {
      ...common,
      description: 'Mine',
      events: ['delivered', 'hardBounce'],
      batched: true,
    })
    assert.deepEqual((await call(key, 'GET', '/v3/webhooks')).body, { webhooks: [shown] })
    const marketing = await call(key, 'GET', '/v3/webhooks?type=marketing')
    assert.deepEqual(
      marketing.body.webhooks.map((one: { id: number }) => one.id),
      [second.id],
    )
    const change = {
      events: ['request', 'opened'],
      url: 'http://203.0.114.8/',
      batched: false,
      description: '',
    }
    assert.equal((await call(key, 'PUT', `/v3/webhooks/${id}`, change)).status, 204)
    for (const events of [[], [' ']]) {
      const none = await call(key, 'PUT', `/v3/webhooks/${id}`, { events })
      assert.deepEqual([none.status, none.body.code], [400, 'missing_parameter'])
    }
    const { body: changed } = await call(key, 'GET', `/v3/webhooks/${id}`)
    assert.deepEqual(changed, { ...shown, ...change, modifiedAt: changed.modifiedAt })
    assert.equal((await call(key, 'DELETE', `/v3/webhooks/${id}`)).status, 204)
    assert.equal((await call(key, 'GET', `/v3/webhooks/${id}`)).status, 404)
    assert.equal((await call(key, 'DELETE', `/v3/webhooks/${id}`)).status, 404)
  })

  test('is lost on another account', async () => {
    const { id } = await made()
    const { key } = await app.makeAccount()
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['GET', '/secret'],
      ['GET', '/deliveries'],
      ['POST', '/test'],
      ['POST', `/deliveries/whd_${'0'.repeat(32)}/replay`],
    ] as const) {
      const reply = await call(key, method, `/v3/webhooks/${id}${path}`, method === 'GET' ? undefined : {})
      assert.deepEqual([reply.status, reply.body.code], [404, 'document_not_found'], `${method} ${path}`)
    }
    assert.deepEqual((await call(key, 'GET', '/v3/webhooks')).body, { webhooks: [] })
  })

  test('is refused with a reason when something about it is wrong', async () => {
    const { key } = await app.makeAccount()
    for (const [body, code, message] of [
      [{ events: ['spam'] }, 'missing_parameter', /url is missing/],
      [{ url }, 'missing_parameter', /events is missing/],
      [{ url, events: [] }, 'missing_parameter', /events is missing/],
      [{ url, events: ['listAddition'] }, 'invalid_parameter', /listAddition.*transactional/],
      [{ url, events: ['uniqueOpened'], type: 'marketing' }, 'invalid_parameter', /uniqueOpened/],
      [{ url, events: 'spam' }, 'invalid_parameter', /events/],
      [{ ...plain, type: 'inbound' }, 'invalid_parameter', /inbound/],
      [{ ...plain, type: 'other' }, 'invalid_parameter', /type must be/],
      [{ ...plain, channel: 'fax' }, 'invalid_parameter', /channel/],
      [{ ...plain, url: 'ftp://203.0.114.7/' }, 'invalid_parameter', /http or https/],
      [{ ...plain, url: 'nothing' }, 'invalid_parameter', /http or https/],
      [{ ...plain, url: 'https://203.0.114.7/a b' }, 'invalid_parameter', /http or https/],
      [{ ...plain, auth: { type: 'basic', token: 'x' } }, 'invalid_parameter', /bearer/],
      [{ ...plain, auth: { type: 'bearer' } }, 'missing_parameter', /token/],
      [{ ...plain, auth: { type: 'bearer', token: 'a\r\nb' } }, 'invalid_parameter', /token/],
      [{ ...plain, headers: [{ key: 'X A', value: '1' }] }, 'invalid_parameter', /name of a header/],
      [{ ...plain, headers: [{ key: 'Host', value: '1' }] }, 'invalid_parameter', /Host/],
      [{ ...plain, headers: [{ key: 'webhook-id', value: '1' }] }, 'invalid_parameter', /webhook-id/],
      [{ ...plain, headers: [{ key: 'X-A', value: 'a\nb' }] }, 'invalid_parameter', /X-A/],
    ] as const) {
      const reply = await call(key, 'POST', '/v3/webhooks', body)
      assert.deepEqual([reply.status, reply.body.code], [400, code], `${JSON.stringify(body)}: ${reply.text}`)
      assert.match(reply.body.message, message)
    }
    const beyond = await call(key, 'GET', '/v3/webhooks/9007199254740993')
    assert.ok([400, 404].includes(beyond.status), beyond.text)
  })

  test('is one of at most forty, also when many are made at once', async () => {
    const { key } = await app.makeAccount()
    const replies = await Promise.all(
      Array.from({ length: 45 }, () => call(key, 'POST', '/v3/webhooks', plain)),
    )
    assert.equal(replies.filter(({ status }) => status === 201).length, 40)
    const refused = replies.find(({ status }) => status !== 201)
    assert.deepEqual([refused?.status, refused?.body.code], [400, 'invalid_parameter'])
  })
})

describe('the secrets of a webhook', () => {
  const secret = {
    ...plain,
    url: 'https://me:pass%20word@203.0.114.7/hook',
    auth: { type: 'bearer', token: 'tok-123456' },
    headers: [{ key: 'X-Shop', value: 'val-123456' }],
  }

  test('are told to who may change it, sealed in the database, and never logged', async () => {
    const { accountId, key, id, secret: signing } = await made(secret)
    assert.match(signing, /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.deepEqual((await call(key, 'GET', `/v3/webhooks/${id}/secret`)).body, { secret: signing })
    const { body: shown, text: raw } = await call(key, 'GET', `/v3/webhooks/${id}`)
    assert.deepEqual([shown.url, shown.auth, shown.headers], [secret.url, secret.auth, secret.headers])
    assert.ok(!raw.includes(signing))
    const reader = await app.makeKey({ scopes: ['analytics.read'] }, accountId)
    const { body: masked } = await call(reader.key, 'GET', `/v3/webhooks/${id}`)
    assert.deepEqual([masked.url, masked.auth.token, masked.headers[0].value], [url, '********', '********'])
    assert.equal((await call(reader.key, 'GET', `/v3/webhooks/${id}/secret`)).status, 403)
    const { sealed } = await app.pools.db.one(
      row<{ sealed: Buffer }>({ sealed: bytes }),
      sql`select sealed from webhooks where account_id = ${accountId}`,
    )
    const { text: logged } = await call(key, 'GET', '/api/v1/audit-logs')
    for (const word of ['tok-123456', 'val-123456', 'pass', signing])
      assert.ok(!sealed.includes(word) && !logged.includes(word), word)
  })

  test('stay through a change that does not name them, or gives back what stood for them', async () => {
    const { key, id, secret: signing } = await made(secret)
    await call(key, 'PUT', `/v3/webhooks/${id}`, {
      description: 'x',
      auth: { type: 'bearer', token: '********' },
      headers: [{ key: 'X-Shop', value: '********' }],
    })
    const { body } = await call(key, 'GET', `/v3/webhooks/${id}`)
    assert.deepEqual([body.auth, body.headers, body.url], [secret.auth, secret.headers, secret.url])
    await call(key, 'PUT', `/v3/webhooks/${id}`, { auth: {}, headers: [], url })
    const { body: bare } = await call(key, 'GET', `/v3/webhooks/${id}`)
    assert.deepEqual([bare.auth, bare.headers, bare.url], [undefined, undefined, url])
    assert.equal((await call(key, 'GET', `/v3/webhooks/${id}/secret`)).body.secret, signing)
  })

  test('what stands for one is known in any spelling of its header, and refused where there is none', async () => {
    const { key, id } = await made(secret)
    const put = (body: object) => call(key, 'PUT', `/v3/webhooks/${id}`, body)
    assert.equal((await put({ headers: [{ key: 'x-shop', value: '********' }] })).status, 204)
    const { body } = await call(key, 'GET', `/v3/webhooks/${id}`)
    assert.deepEqual(body.headers, [{ key: 'x-shop', value: secret.headers[0]?.value }])
    const other = { headers: [{ key: 'X-Other', value: '********' }] }
    const bare = { url, events: ['delivered'] }
    for (const refused of [
      await put(other),
      await call(key, 'POST', '/v3/webhooks', { ...bare, ...other }),
      await call(key, 'POST', '/v3/webhooks', { ...bare, auth: { type: 'bearer', token: '********' } }),
    ]) {
      assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_parameter'])
      assert.match(refused.body.message, /is \*{8}, which stands for a secret that is not kept here/)
    }
  })

  test('are not told, and nothing is changed, by a process that has another secret key', async () => {
    const { key, id } = await made(secret)
    const other = await makeApp({
      databaseUrl: app.databaseUrl,
      env: { POSTHORN_SECRET_KEY: '5e'.repeat(32) },
    })
    for (const [method, path] of [
      ['GET', ''],
      ['GET', `/${id}`],
      ['GET', `/${id}/secret`],
      ['PUT', `/${id}`],
    ] as const) {
      const body = method === 'GET' ? undefined : { description: 'x' }
      const reply = await other.call(method, `/v3/webhooks${path}`, { key, body })
      assert.deepEqual([reply.status, reply.body.code], [503, 'secret_unopened'], `${method} ${path}`)
      assert.match(reply.body.message, /sealed with another secret key.*POSTHORN_SECRET_KEY/)
    }
    assert.equal((await call(key, 'GET', `/v3/webhooks/${id}`)).body.description, '')
  })
})

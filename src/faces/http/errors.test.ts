import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { makeApp, type Reply } from '../../../test/app.ts'
import { createActs, v3Act, writeAct } from '../../../test/make-operation.ts'
import { proxyTo } from '../../../test/stand-ins/cuttable-proxy.ts'
import { until } from '../../../test/until.ts'

const app = await makeApp({
  extraOperations: [
    writeAct(async () => {
      throw new Error('planted: SELECT secret')
    }),
    v3Act,
  ],
})
await app.pools.db.run(createActs)

function assertOwn(reply: Reply, status: number, code: string) {
  assert.deepEqual([reply.status, reply.body.error?.code], [status, code], reply.text)
  assert.equal(reply.body.error.status, status)
  assert.equal(reply.body.error.request_id, reply.headers.get('x-request-id'))
  assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
}

function assertV3(reply: Reply, status: number, code: string, message?: string) {
  assert.deepEqual([reply.status, reply.body.code], [status, code], reply.text)
  if (message) assert.equal(reply.body.message, message)
  assert.equal(reply.body.request_id, reply.headers.get('x-request-id'))
}

describe('/api/v1', () => {
  test('an unknown path is 404', async () => {
    for (const path of ['/api/v1/nothing', '/nothing', '/api', '/api/v1/settings/x', '/console']) {
      assertOwn(await app.call('GET', path), 404, 'not_found')
    }
  })

  test('a wrong method is 405 and names the right ones', async () => {
    for (const method of ['POST', 'DELETE', 'PATCH', 'OPTIONS']) {
      const reply = await app.call(method, '/api/v1/settings')
      assertOwn(reply, 405, 'method_not_allowed')
      assert.equal(reply.headers.get('allow'), 'GET, PUT, HEAD')
    }
  })

  test('broken JSON is 400 with its place and without what was sent', async () => {
    const reply = await app.call('PUT', '/api/v1/settings', {
      raw: `{\n "secret-word": tru, "x": "${'y'.repeat(60)}" }`,
    })
    assertOwn(reply, 400, 'malformed_json')
    assert.match(reply.body.error.message, /line 2, column/)
    assert.doesNotMatch(reply.text, /secret-word/)
  })

  test('JSON that parses but cannot be taken is 422, and 400 under /v3', async () => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000)
    for (const raw of [deep, '{"timezone": "a\\u0000b"}']) {
      assertOwn(await app.call('PUT', '/api/v1/settings', { raw }), 422, 'invalid_parameter')
      assertV3(await app.call('POST', '/v3/contacts', { raw }), 400, 'invalid_parameter')
    }
  })

  test('JSON that is not UTF-8 is 400', async () => {
    const response = await fetch(`${app.url}/api/v1/settings`, {
      method: 'PUT',
      headers: { 'api-key': app.key, 'content-type': 'application/json' },
      body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    })
    assert.equal(response.status, 400)
  })

  test('another content type is 415', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'x',
    ]) {
      const reply = await app.call('PUT', '/api/v1/settings', {
        raw: 'a=1',
        headers: { 'content-type': type },
      })
      assertOwn(reply, 415, 'unsupported_media_type')
    }
  })

  test('a body that is compressed is 415, and names how', async () => {
    for (const encoding of ['gzip', 'br', 'identity, deflate']) {
      const given = { raw: '{}', headers: { 'content-encoding': encoding } }
      const own = await app.call('PUT', '/api/v1/settings', given)
      assertOwn(own, 415, 'unsupported_media_type')
      assert.ok(own.body.error.message.includes(encoding))
      const other = await app.call('POST', '/v3/contacts', given)
      assert.equal(other.status, 415)
      assert.ok(other.body.message.includes(encoding))
    }
    const plain = { raw: '{}', headers: { 'content-encoding': 'Identity' } }
    assert.equal((await app.call('PUT', '/api/v1/settings', plain)).status, 200)
  })

  test('an oversized body is 413', async () => {
    const raw = JSON.stringify({ timezone: 'x'.repeat(1024 * 1024) })
    const reply = await app.call('PUT', '/api/v1/settings', { raw })
    assertOwn(reply, 413, 'payload_too_large')
    assert.match(reply.body.error.message, /larger than the 1048576 bytes/)
    assert.match(reply.body.error.hint, /Send less/)
  })

  test('without a key the body is not even looked at', async () => {
    const reply = await app.call('PUT', '/api/v1/settings', {
      key: null,
      raw: '{',
      headers: { 'content-type': 'x' },
    })
    assertOwn(reply, 401, 'unauthorized')
  })

  test('every fault is reported at once, an unknown field with the nearest known name', async () => {
    const reply = await app.call('PUT', '/api/v1/settings', {
      body: {
        clickTracking: true,
        open_tracking: 'maybe',
        timezone: 'Mars/Olympus',
        default_sender: { email: 'nope', nam: 'x' },
        exclude_robot_activity: 'yes',
        unsubscribe_url: 'javascript:alert(1)',
        __proto__x: 1,
      },
    })
    assertOwn(reply, 422, 'invalid_parameter')
    const details = reply.body.error.details as { param: string; code: string; message: string }[]
    const byParam = Object.fromEntries(details.map((fault) => [fault.param, fault]))
    assert.equal(byParam.clickTracking?.code, 'unknown_parameter')
    assert.match(byParam.clickTracking?.message ?? '', /click_tracking/)
    assert.match(byParam.open_tracking?.message ?? '', /on, consented_only, off/)
    assert.match(byParam.timezone?.message ?? '', /Europe\/Paris/)
    assert.match(byParam['default_sender.nam']?.message ?? '', /default_sender\.name/)
    assert.ok(byParam['default_sender.email'])
    assert.ok(byParam.exclude_robot_activity)
    assert.ok(byParam.unsubscribe_url)
    assert.equal(details.length, 8)
  })

  test('names of prototypes are fields like any other', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const reply = await app.call('PUT', '/api/v1/settings', { raw: `{"${name}": {"x": 1}}` })
      assertOwn(reply, 422, 'unknown_parameter')
    }
  })

  test('an empty body that calls itself JSON is an empty request', async () => {
    const reply = await app.call('PUT', '/api/v1/settings', {
      raw: '',
      headers: { 'content-type': 'application/json' },
    })
    assert.equal(reply.status, 200)
  })

  test('a bug is 500 with a bare sentence', async () => {
    const reply = await app.call('POST', '/api/v1/test-acts', { body: { note: 'x' } })
    assertOwn(reply, 500, 'internal')
    assert.doesNotMatch(reply.text, /planted|SELECT|at /)
  })

  test('a caller’s own request id is kept when it is safe, replaced when not', async () => {
    const call = async (id: string) =>
      (await app.call('GET', '/livez', { headers: { 'x-request-id': id } })).headers.get('x-request-id')
    assert.equal(await call('my-id.1:2'), 'my-id.1:2')
    assert.match((await call('a"b')) ?? '', /^req_/)
    assert.match((await call('x'.repeat(129))) ?? '', /^req_/)
  })

  test('a broken percent-encoding is 422, and 400 under /v3', async () => {
    assertOwn(await app.call('GET', '/api/v1/%E0%A4%A'), 422, 'invalid_parameter')
    assertV3(await app.call('GET', '/v3/contacts/%E0%A4%A'), 400, 'invalid_parameter')
  })

  test('what is not HTTP gets a structured answer and a closed connection', async () => {
    for (const [sent, status] of [
      ['NONSENSE\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    ] as const) {
      const answer = await rawRequest(sent)
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `))
      assert.equal(JSON.parse(answer.slice(answer.indexOf('{'))).error.status, status)
    }
  })
})

test('an expectation that nobody knows changes nothing', async () => {
  const answer = await rawRequest(
    'GET /v3/nothing HTTP/1.1\r\nhost: x\r\nexpect: x\r\nconnection: close\r\n\r\n',
  )
  assert.match(answer, /^HTTP\/1.1 404 /)
  assert.match(answer, /document_not_found/)
})

test('a body with a million faults is refused without naming them all', async () => {
  const lists = { '/api/v1/transactional/send': 'attachments', '/v3/events/batch': 'events' }
  for (const [path, name] of Object.entries(lists)) {
    const raw = `{"${name}":[${'{},'.repeat(300_000)}{}]}`
    const started = performance.now()
    const reply = await app.call('POST', path, { raw })
    assert.ok([400, 422].includes(reply.status), reply.text.slice(0, 200))
    assert.ok(performance.now() - started < 3_000)
  }
})

function rawRequest(text: string): Promise<string> {
  const { hostname, port } = new URL(app.url)
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(port), hostname, () => socket.write(text))
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
  })
}

describe('/v3', () => {
  test('speaks the provider’s words', async () => {
    assertV3(await app.call('GET', '/v3/nothing'), 404, 'document_not_found')
    for (const path of [
      '/v3/contacts/consent-groups',
      '/v3/contacts/consent-groups/7',
      '/v3/webhooks/export',
    ])
      for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
        assertV3(await app.call(method, path), 404, 'document_not_found')
    assertV3(
      await app.call('GET', '/v3/account', { key: null }),
      401,
      'unauthorized',
      'authentication not found in headers',
    )
    assertV3(await app.call('GET', '/v3/account', { key: 'wrong' }), 401, 'unauthorized', 'Key not found')
    assertV3(
      await app.call('POST', '/v3/account'),
      405,
      'method_not_allowed',
      'POST Method is not allowed on this path',
    )
  })

  test('answers 400 to invalid input', async () => {
    assertV3(
      await app.call('POST', '/v3/test-acts/1', { body: {} }),
      400,
      'missing_parameter',
      'count is missing.',
    )
    assertV3(await app.call('POST', '/v3/test-acts/x', { body: { count: 1 } }), 400, 'invalid_parameter')
    assertV3(await app.call('POST', '/v3/test-acts/1', { raw: '{' }), 400, 'bad_request')
  })

  test('ignores fields it does not know and reads numbers from text', async () => {
    const reply = await app.call('POST', '/v3/test-acts/7?limit=5&zzz=1', {
      body: { count: '3', type: 'classic' },
    })
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(reply.body, { id: 7, limit: 5, count: 3 })
  })
})

describe('when the database goes away', () => {
  test('calls answer 503, health within two seconds, and all is well when it is back', async () => {
    const proxy = await proxyTo(app.databaseUrl)
    const cut = await makeApp({ databaseUrl: proxy.url })
    const health = () => cut.call('GET', '/api/v1/health')
    assert.equal((await health()).body.status, 'ok')
    for (const fail of [proxy.cut, proxy.silence]) {
      fail()
      const started = performance.now()
      const reply = await health()
      assert.ok(performance.now() - started < 2_000)
      assert.deepEqual([reply.status, reply.body.status, reply.body.database.state], [503, 'down', 'down'])
      assert.equal(reply.body.error.code, 'database_unavailable')
      assert.equal(reply.body.error.request_id, reply.headers.get('x-request-id'))
      assert.equal((await cut.call('GET', '/readyz')).status, 503)
      assert.equal((await cut.call('GET', '/livez')).status, 200)
      const other = await cut.call('GET', '/v3/account', { key: 'never seen before' })
      assertV3(other, 503, 'database_unavailable')
      proxy.mend()
      assert.equal((await retried(health)).body.status, 'ok')
    }
  })

  async function retried(call: () => Promise<Reply>): Promise<Reply> {
    const good = async () => {
      const reply = await call()
      return reply.status === 200 && reply
    }
    return until(good, 'the database to answer again', 10_000)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'

const app = await makeApp()

test('/v3 may be called by programs in a browser, from anywhere', async () => {
  for (const [path, key, status] of [
    ['/v3/account', app.key, 200],
    ['/v3/account', null, 401],
    ['/v3/nothing', app.key, 404],
  ] as const) {
    const { status: got, headers } = await app.call('GET', path, { key })
    assert.deepEqual([got, headers.get('access-control-allow-origin')], [status, '*'])
    assert.equal(headers.get('sib-request-id'), headers.get('x-request-id'))
  }
})

test('a browser that asks before is told what it may send', async () => {
  const headers = { origin: 'https://shop.example', 'access-control-request-method': 'POST' }
  const asked = await app.call('OPTIONS', '/v3/smtp/email', { key: null, headers })
  assert.deepEqual(
    [asked.status, asked.text, asked.headers.get('access-control-allow-origin')],
    [204, '', '*'],
  )
  assert.match(asked.headers.get('access-control-allow-methods') ?? '', /POST/)
  assert.match(asked.headers.get('access-control-allow-headers') ?? '', /\*/)
})

test('nothing else is opened', async () => {
  const headers = { origin: 'https://shop.example', 'access-control-request-method': 'GET' }
  for (const method of ['GET', 'OPTIONS']) {
    const reply = await app.call(method, '/api/v1/settings', { headers })
    assert.equal(reply.headers.get('access-control-allow-origin'), null)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'

const app = await makeApp()

test('a call without a body is one whatever type it announces', async () => {
  await app.call('POST', '/v3/contacts', { body: { email: 'ann@example.com' } })
  const path = '/v3/contacts/ann@example.com/resubscribe'
  for (const type of [
    'application/x-www-form-urlencoded',
    'application/json',
    'text/plain;charset=UTF-8',
    'x',
  ]) {
    const headers = { 'api-key': app.key, 'content-type': type }
    const reply = await fetch(app.url + path, { method: 'POST', headers, body: '' })
    assert.equal(reply.status, 200, type)
  }
  const reply = await app.call('POST', path, { raw: 'a=1', headers: { 'content-type': 'text/plain' } })
  assert.deepEqual([reply.status, reply.body.code], [415, 'unsupported_media_type'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'

const app = await makeApp()

test('a filter that is given empty is refused, not taken for one that finds nothing', async () => {
  for (const name of ['reason', 'since', 'email']) {
    const { status, body } = await app.call('GET', `/api/v1/suppressions?${name}=`)
    assert.deepEqual([status, body.error.code, body.error.param], [422, 'invalid_parameter', name])
  }
  assert.equal((await app.call('GET', '/api/v1/suppressions?email=nobody@example.com')).status, 200)
})

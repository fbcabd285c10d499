import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'

const app = await makeApp()

test('the state of a batch counts all of it, whichever page is asked for', async () => {
  const batchId = crypto.randomUUID()
  const to = (name: string) => ({ to: [{ email: `${name}@example.com` }, { email: `${name}2@example.com` }] })
  const sent = await app.call('POST', '/v3/smtp/email', {
    body: {
      sender: { email: 'shop@example.com' },
      subject: 'Hello',
      textContent: 'Hi',
      scheduledAt: new Date(Date.now() + 3_600_000).toISOString(),
      batchId,
      messageVersions: ['a', 'b', 'c', 'd'].map(to),
    },
  })
  assert.equal(sent.status, 202, sent.text)
  const page = async (query: string) =>
    (await app.call('GET', `/v3/smtp/emailStatus/${batchId}?${query}`)).body
  const sizes = async (query: string) => {
    const { count, batches, next_cursor } = await page(query)
    return [count, batches.length, next_cursor === null]
  }
  assert.deepEqual(await sizes(''), [4, 4, true])
  assert.deepEqual(await sizes('limit=1'), [4, 1, false])
  assert.deepEqual(await sizes('offset=10'), [4, 0, true])
  assert.deepEqual(await sizes('limit=0'), [4, 0, true])
  for (const sort of ['asc', 'desc']) {
    const { next_cursor } = await page(`limit=3&sort=${sort}`)
    assert.deepEqual(await sizes(`limit=3&sort=${sort}&cursor=${next_cursor}`), [4, 1, true])
  }
  const other = `/v3/smtp/emailStatus/${crypto.randomUUID()}`
  for (const query of ['', '?offset=1', '?limit=0'])
    assert.equal((await app.call('GET', other + query)).status, 404)
})

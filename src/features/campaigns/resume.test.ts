import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { app, base, call, create, put, shop } from './fixtures/campaigns.ts'

async function ready() {
  const made = await shop()
  const id = await create(made.key, { recipients: { listIds: [made.listId] } })
  const post = (path: string, body?: object) => call(made.key, 'POST', `${base}/${id}/${path}`, body)
  return { ...made, id, post }
}

describe('an interrupted campaign', () => {
  test('goes on only by a key that may send from its sender', async () => {
    const { accountId, key, id, post } = await ready()
    await put(id, 'suspended')
    const { key: narrow } = await app.makeKey({ senderDomains: ['other.example'] }, accountId)
    const queue = (by: string) => call(by, 'PUT', `${base}/${id}/status`, { status: 'queued' })
    for (const reply of [await call(narrow, 'POST', `${base}/${id}/resume`), await queue(narrow)])
      assert.deepEqual([reply.status, reply.body.code], [403, 'sender_domain_not_allowed'])
    assert.equal((await post('resume')).status, 204)
    assert.equal((await post('pause')).status, 204)
    assert.equal((await queue(key)).status, 204)
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addContact, app, base, call, create, db, put, shop, shown } from './fixtures/campaigns.ts'
import { jobsOf } from './sending/fixtures/campaigns.ts'
import { stepsWith } from './sending/fixtures/steps.ts'

const run = jobsOf(db)
const { messagesOf } = stepsWith(app)

const recipientsOf = async (id: number) => (await messagesOf(String(id))).map(({ recipient }) => recipient)

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

  test('is for those who were on its lists when it was started, however late they are written down', async () => {
    const { key, listId, id, post } = await ready()
    const other = await call(key, 'POST', '/v3/contacts/lists', { name: 'Other' })
    await call(key, 'PUT', `${base}/${id}`, { recipients: { listIds: [listId, other.body.id] } })
    const single = await create(key, { recipients: { listIds: [listId] } })
    for (const one of [id, single])
      assert.equal((await call(key, 'POST', `${base}/${one}/sendNow`, { confirm: true })).status, 204)
    await addContact(key, listId, 'cleo')
    assert.equal((await post('pause')).status, 204)
    await addContact(key, other.body.id, 'dora')
    assert.equal((await post('resume')).status, 204)
    await run('freeze')
    for (const one of [id, single])
      assert.deepEqual(await recipientsOf(one), ['anna@example.com', 'bob@example.com'])
  })

  test('whose list is gone is given another, and goes to that as it is then', async () => {
    const { key, listId, id, post } = await ready()
    assert.equal((await post('sendNow', { confirm: true })).status, 204)
    assert.equal((await call(key, 'DELETE', `/v3/contacts/lists/${listId}`)).status, 204)
    await run('freeze')
    const refused = await post('resume')
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_parameter'])
    const list = await call(key, 'POST', '/v3/contacts/lists', { name: 'Other' })
    const changed = await call(key, 'PUT', `${base}/${id}`, { recipients: { listIds: [list.body.id] } })
    assert.equal(changed.status, 204, changed.text)
    assert.equal((await shown(key, id)).status, 'suspended')
    await addContact(key, list.body.id, 'cleo')
    assert.equal((await post('resume')).status, 204)
    await run('freeze')
    assert.deepEqual(await recipientsOf(id), ['cleo@example.com'])
    assert.equal((await post('pause')).status, 204)
    const late = await call(key, 'PUT', `${base}/${id}`, { subject: 'Other' })
    assert.deepEqual([late.status, late.body.code], [400, 'campaign_processing'])
    assert.equal((await call(key, 'DELETE', `${base}/${id}`)).status, 400)
  })

  test('is deleted where it has no messages yet', async () => {
    const { key, id, post } = await ready()
    await post('sendNow', { confirm: true })
    assert.equal((await post('pause')).status, 204)
    assert.equal((await call(key, 'DELETE', `${base}/${id}`)).status, 204)
  })
})

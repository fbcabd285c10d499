import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../kernel/sql.ts'
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

  test('keeps its total when people go before they are written down; those are cancelled', async () => {
    const { key, listId, id, post } = await ready()
    for (const name of ['cleo', 'dora', 'emil']) await addContact(key, listId, name)
    assert.equal((await post('sendNow', { confirm: true })).status, 204)
    assert.equal((await post('pause')).status, 204)
    assert.equal((await shown(key, id)).progress.total, 5)
    await call(key, 'DELETE', '/v3/contacts/anna@example.com')
    await call(key, 'POST', `/v3/contacts/lists/${listId}/contacts/remove`, { emails: ['bob@example.com'] })
    await call(key, 'POST', '/api/v1/contacts/erase', { email: 'cleo@example.com', confirm: true })
    assert.equal((await post('resume')).status, 204)
    await run('freeze')
    const { total, cancelled, queued } = (await shown(key, id)).progress
    assert.deepEqual([total, cancelled, queued], [5, 3, 2])
    assert.deepEqual(await recipientsOf(id), ['dora@example.com', 'emil@example.com'])
    const listed = await call(key, 'GET', `${base}/${id}/recipients`)
    assert.deepEqual([listed.body.count, listed.body.recipients.length], [2, 2])
    const stats = await call(key, 'GET', `/api/v1/campaigns/${id}/stats`)
    assert.equal(stats.body.recipients, 5)
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

  test('tells of its recipients from its start; cancelled before they were written down, it lists them', async () => {
    const { key, id, post } = await ready()
    const progressOf = async () => {
      const { progress } = (await call(key, 'GET', `${base}/${id}`)).body
      const { recipients } = (await call(key, 'GET', `/api/v1/campaigns/${id}/stats`)).body
      assert.equal(recipients, progress.total)
      return Object.fromEntries(Object.entries(progress).filter(([, count]) => count !== 0))
    }
    await post('schedule', { scheduledAt: new Date(Date.now() - 60_000).toISOString() })
    await run('start')
    assert.deepEqual(await progressOf(), { queued: 2, total: 2 })
    await post('pause')
    assert.deepEqual(await progressOf(), { held: 2, total: 2 })
    await post('resume')
    await post('cancel')
    assert.deepEqual(await progressOf(), { cancelled: 2, total: 2 })
    await run('freeze', 'follow', 'feed')
    assert.deepEqual(await progressOf(), { cancelled: 2, total: 2 })
    const listed = (await call(key, 'GET', `${base}/${id}/recipients?status=cancelled`)).body
    assert.deepEqual([listed.count, listed.recipients.length], [2, 2])
    assert.equal((await call(key, 'DELETE', `${base}/${id}`)).status, 204)
  })

  test('that was changed since is for whom it names when it goes on', async () => {
    const { key, listId, id, post } = await ready()
    const total = async () => (await call(key, 'GET', `${base}/${id}`)).body.progress.total
    await post('sendNow', { confirm: true })
    await post('pause')
    assert.equal(await total(), 2)
    await call(key, 'PUT', `${base}/${id}`, { subject: 'Mended' })
    await addContact(key, listId, 'cleo')
    assert.equal((await post('resume')).status, 204)
    assert.equal(await total(), 3)
    await run('freeze')
    assert.equal(await total(), 3)
  })

  test('that had no room says so in a notice, and goes on by a key that has', async () => {
    const { accountId, key, listId, id } = await ready()
    const { key: narrow } = await app.makeKey({ dailyCap: 3 }, accountId)
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const schedule = (by: string) => call(by, 'POST', `${base}/${id}/schedule`, { scheduledAt })
    assert.equal((await schedule(narrow)).status, 204)
    for (const name of ['cleo', 'dora']) await addContact(key, listId, name)
    const late = await schedule(narrow)
    assert.deepEqual([late.status, late.body.code], [429, 'not_enough_credits'])
    assert.equal(late.headers.get('retry-after'), null)
    const inline = { list_id: listId, subject: 'x', html: '<p>Hello there</p>', from: 'news@shop.example' }
    const asked = await call(narrow, 'POST', '/api/v1/campaigns/send', inline)
    assert.match(asked.body.error.message, /4 contacts would get this campaign, but it would be refused/)
    assert.equal(asked.body.error.details[1].code, 'daily_cap_reached')
    const refused = await call(narrow, 'POST', '/api/v1/campaigns/send', { ...inline, confirm: true })
    assert.deepEqual([refused.status, refused.body.error.retryable], [429, false])

    await put(id, 'in_process')
    await db.run(
      sql`update campaigns set frozen_at = null, started_at = now() where account_id = ${accountId} and id = ${id}`,
    )
    await run('freeze', 'follow')
    const notices = async () => (await call(key, 'GET', '/api/v1/notices')).body.data
    const [notice] = await notices()
    assert.deepEqual([notice.code, notice.subject], ['campaign_interrupted', String(id)])
    assert.match(notice.message, /daily sending cap of the key, 3 messages.*needs room for 4 messages/)
    const held = await call(key, 'GET', '/api/v1/messages?status=held')
    assert.match(held.body.data[0].held_reason, /daily sending cap/)
    const resume = (by: string) => call(by, 'POST', `${base}/${id}/resume`)
    assert.equal((await resume(narrow)).status, 429)
    assert.equal((await resume(key)).status, 204)
    await run('follow')
    assert.deepEqual(
      [(await shown(key, id)).status, (await notices())[0].resolved_at === null],
      ['in_process', false],
    )
  })
})

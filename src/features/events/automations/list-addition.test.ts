import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../../test/until.ts'
import { readId } from '../../../kernel/id.ts'
import { int, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { workImports } from '../../contacts/import/work-imports.ts'
import { changeStatus, leaveList, rejoinList } from '../../contacts/unsubscribe/queries.ts'
import { captureTransport } from '../../messages/capture.ts'
import { deliverThrough } from '../../messages/fixtures/engine.ts'
import { openRunning, step } from '../fixtures/running.ts'

const { app, api, declare, needs, now, pass, subjects } = await openRunning()
const { db } = app.pools

async function withList() {
  const { accountId, key } = await app.makeAccount()
  const { body } = await api('POST', '/v3/contacts/lists', key, { name: 'News' })
  const listId: number = body.id
  const welcome = {
    name: 'Welcome',
    trigger_type: 'list_addition',
    list_id: listId,
    steps: [step(5, 'Welcome')],
  }
  return { accountId, key, listId, welcome }
}

const runCount = async (accountId: string) =>
  (
    await db.one(
      row<{ n: number }>({ n: int }),
      sql`select count(*)::int as n from automation_runs where account_id = ${accountId}`,
    )
  ).n

const importNeeds = { ...needs, fetchFile: async () => assert.fail(), notify: async () => {} }

test('whoever comes onto the list is welcomed once, by whatever way', async () => {
  const { accountId, key, listId, welcome } = await withList()
  await api('POST', '/v3/contacts', key, { email: 'before@example.com', listIds: [listId] })
  const id = await declare(key, welcome)
  await api('POST', '/v3/contacts', key, { email: 'single@example.com', listIds: [listId] })
  await api('POST', '/v3/contacts', key, { email: 'added@example.com' })
  const add = (emails: string[]) => api('POST', `/v3/contacts/lists/${listId}/contacts/add`, key, { emails })
  await add(['added@example.com'])
  await add(['added@example.com', 'single@example.com'])
  const imported = Array.from({ length: 30 }, (_, i) => ({ email: `i${i}@example.com` }))
  await api('POST', '/v3/contacts/import', key, { jsonBody: imported, listIds: [listId] })
  await workImports(importNeeds, now())
  assert.equal(await runCount(accountId), 32)
  await pass(5)
  for (const name of ['single', 'added', 'i0', 'i29'])
    assert.deepEqual(await subjects(key, `${name}@example.com`), ['Welcome'], name)
  assert.deepEqual(await subjects(key, 'before@example.com'), [])
  await api('PUT', `/api/v1/automations/${id}`, key, { status: 'paused' })
  await api('POST', '/v3/contacts', key, { email: 'paused@example.com', listIds: [listId] })
  assert.equal(await runCount(accountId), 32)
})

test('whoever left the list and comes back by the page of preferences is not welcomed again', async () => {
  const { accountId, key, listId, welcome } = await withList()
  await declare(key, welcome)
  const { body } = await api('POST', '/v3/contacts', key, { email: 'a@example.com', listIds: [listId] })
  const contact = { accountId, contactId: String(body.id) }
  for (let n = 0; n < 2; n++) {
    await leaveList(db, contact, String(listId), now())
    assert.ok(await rejoinList(db, contact, String(listId), now()))
  }
  assert.equal(await runCount(accountId), 1)
})

test('whoever a test key puts on the list is welcomed in test mode', async () => {
  const { accountId, key, listId, welcome } = await withList()
  await declare(key, welcome)
  const { key: testKey } = await app.makeKey({ mode: 'test' }, accountId)
  await api('POST', '/v3/contacts', testKey, { email: 'single@example.com', listIds: [listId] })
  await api('POST', '/v3/contacts', testKey, { email: 'added@example.com' })
  const emails = ['added@example.com']
  await api('POST', `/v3/contacts/lists/${listId}/contacts/add`, testKey, { emails })
  const jsonBody = [{ email: 'imported@example.com' }]
  await api('POST', '/v3/contacts/import', testKey, { jsonBody, listIds: [listId] })
  await workImports(importNeeds, now())
  await api('POST', '/v3/contacts', key, { email: 'live@example.com', listIds: [listId] })
  await pass(5)
  const Sent = row<{ recipient: string; mode: string }>({ recipient: text, mode: text })
  const sent = await db.many(
    Sent,
    sql`select recipient, mode from messages where account_id = ${accountId} order by recipient`,
  )
  assert.deepEqual(
    sent.map(({ recipient, mode }) => `${recipient} ${mode}`),
    [
      'added@example.com test',
      'imported@example.com test',
      'live@example.com live',
      'single@example.com test',
    ],
  )
})

test('another list, another account and a contact without an address start nothing', async () => {
  const { accountId, key, listId, welcome } = await withList()
  const other = await withList()
  await declare(key, welcome)
  const { body: second } = await api('POST', '/v3/contacts/lists', key, { name: 'Second' })
  await api('POST', '/v3/contacts', key, { email: 'a@example.com', listIds: [second.id] })
  await api('POST', '/v3/contacts', key, { ext_id: 'no address', listIds: [listId] })
  await api('POST', '/v3/contacts', key, {
    email: 'b@example.com',
    emailBlacklisted: true,
    listIds: [listId],
  })
  await api('POST', '/v3/contacts', other.key, { email: 'a@example.com', listIds: [other.listId] })
  assert.deepEqual([await runCount(accountId), await runCount(other.accountId)], [0, 0])
  const stolen = await api('POST', '/api/v1/automations', other.key, welcome)
  assert.deepEqual([stolen.status, stolen.body.error.param], [422, 'list_id'])
})

test('who has left the list again is not written to', async () => {
  const { key, listId, welcome } = await withList()
  await declare(key, welcome)
  await api('POST', '/v3/contacts', key, { email: 'a@example.com', listIds: [listId] })
  await db.run(sql`
    insert into list_unsubscriptions (account_id, list_id, contact_id, at)
    select account_id, list_id, contact_id, now() from list_members where list_id = ${listId}`)
  await pass(5)
  assert.deepEqual(await subjects(key, 'a@example.com'), [])
})

test('when the list is deleted it is paused, and the account is told until it goes on', async () => {
  const { key, listId, welcome } = await withList()
  const id = await declare(key, welcome)
  await declare(key, { ...welcome, status: 'paused' })
  await api('POST', '/v3/contacts', key, { email: 'a@example.com', listIds: [listId] })
  assert.equal((await api('DELETE', `/v3/contacts/lists/${listId}`, key)).status, 204)
  const { body } = await api('GET', `/api/v1/automations/${id}`, key)
  assert.deepEqual([body.status, body.list_id], ['paused', listId])
  const notices = async () => (await api('GET', '/api/v1/notices?open=true', key)).body.data
  const [notice, ...others] = await notices()
  assert.deepEqual([notice.code, notice.subject, others], ['automation_paused', id, []])
  assert.match(notice.message, /list_id/)
  await pass(5)
  assert.deepEqual(await subjects(key, 'a@example.com'), [])
  const next = (await api('POST', '/v3/contacts/lists', key, { name: 'Next' })).body.id
  const path = `/api/v1/automations/${id}`
  assert.equal((await api('PUT', path, key, { list_id: next, status: 'active' })).status, 200)
  assert.deepEqual(await notices(), [])
  await pass(0)
  assert.deepEqual(await subjects(key, 'a@example.com'), ['Welcome'])
})

test('what it sends counts for the list and for the source of the consent', async () => {
  const { key, listId, welcome } = await withList()
  await declare(key, welcome)
  const one = { email: 'a@example.com', listIds: [listId], consentSource: 'shop' }
  assert.equal((await api('POST', '/v3/contacts', key, one)).status, 201)
  await pass(5)
  const [{ id }] = (await api('GET', '/api/v1/messages', key)).body.data
  await db.run(sql`
    insert into message_events (id, account_id, message_id, type, at, data)
    select gen_random_uuid(), account_id, id, 'sent', now(), '{}' from messages where id = ${readId('msg', id)}`)
  for (const filter of [`listId=${listId}`, 'source=shop']) {
    const { body } = await api('GET', `/api/v1/stats/engagement?${filter}`, key)
    assert.equal(body.sent, 1, filter)
  }
  assert.equal((await api('GET', `/api/v1/stats/engagement?listId=${listId + 1}`, key)).body.sent, 0)
})

test('a message that waits in the queue goes to nobody who has left the list, or everything, meanwhile', async () => {
  const { accountId, key, listId, welcome } = await withList()
  await declare(key, welcome)
  const join = async (email: string) => {
    const { body } = await api('POST', '/v3/contacts', key, { email, listIds: [listId] })
    return { accountId, contactId: String(body.id) }
  }
  const [leaver, stopped] = [await join('leaver@example.com'), await join('stopped@example.com')]
  await join('stays@example.com')
  await pass(5)
  await leaveList(db, leaver, String(listId), now())
  await changeStatus(db, stopped, 'unsubscribed', now())
  const stop = deliverThrough({ db, now, transport: captureTransport(db, now) })
  const left = ['leaver', 'stopped', 'stays'].map((name) =>
    until(async () => {
      const { body } = await api('GET', `/api/v1/messages?to=${name}@example.com`, key)
      return body.data[0].status !== 'queued' && body.data[0].status
    }, `the message to ${name} to leave the queue`),
  )
  assert.deepEqual(await Promise.all(left), ['suppressed', 'suppressed', 'delivered'])
  await stop()
})

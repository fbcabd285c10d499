// What campaigns and contacts tell, field by field.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { newUuid } from '../../kernel/id.ts'
import { row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { recordEvent } from '../messages/record-event.ts'
import { announce } from './announce.ts'
import { openReceiver } from './fixtures/receiver.ts'

const app = await makeApp({
  webhooks: true,
  env: { POSTHORN_WEBHOOK_ALLOW_PRIVATE: 'true', POSTHORN_RATE_LIMIT_FACTOR: '100' },
})
const { db } = app.pools

const events = [
  'spam',
  'opened',
  'click',
  'hardBounce',
  'softBounce',
  'unsubscribed',
  'listAddition',
  'delivered',
  'contactUpdated',
  'contactDeleted',
  'domainBroken',
]

async function shop(words = events) {
  const { accountId, key } = await app.makeAccount()
  const receiver = await openReceiver()
  const body = { url: receiver.url, events: words, type: 'marketing' }
  const { body: made, status } = await app.call('POST', '/v3/webhooks', { key, body })
  assert.equal(status, 201)
  const call = (method: string, path: string, given?: object) => app.call(method, path, { key, body: given })
  return { accountId, key, receiver, id: made.id as number, call }
}

/** A message of a campaign as it is after its hand-over. */
async function makeMessage(accountId: string): Promise<{ campaignId: number; messageId: string }> {
  const messageId = newUuid()
  const { id } = await db.one(
    row<{ id: string }>({ id: text }),
    sql`
    insert into campaigns (account_id, name, status, sender, created_at, modified_at)
    values (${accountId}, 'Spring', 'in_process', '{}', now(), now())
    returning id`,
  )
  await db.run(sql`
    insert into messages (id, account_id, key_id, status, source, mode, stream, sender, recipient, subject, tag,
                          campaign_id, list_id, message_id, created_at, sent_at)
    values (${messageId}, ${accountId}, ${newUuid()}, 'sent', 'campaign', 'live', 'marketing', 'news@shop.example',
            'anna@example.com', 'News', 'spring', ${id}, 12, '<1@shop.example>', now(), '2026-07-01T10:00:00Z')`)
  return { campaignId: Number(id), messageId }
}

test('a campaign tells marketing webhooks, and those alone', async () => {
  const { accountId, key, receiver, id } = await shop()
  const other = await openReceiver()
  const body = { url: other.url, events: ['delivered', 'opened', 'click', 'spam'] }
  await app.call('POST', '/v3/webhooks', { key, body })
  const { campaignId, messageId } = await makeMessage(accountId)
  const at = new Date('2026-12-01T11:30:00Z')
  const told = { id: messageId, accountId, recipient: 'anna@example.com', at }
  const record = (type: string, data: object = {}) => recordEvent(db, told, type, data)
  await record('sent')
  await record('delivery', { response: '250' })
  await record('open', { user_agent: 'Mail', classification: 'human' })
  await record('click', { url: 'https://shop.example/', classification: 'human' })
  await record('bounce', { bounce_type: 'hard', class: 'unknown_user', reason: 'no such user' })
  await record('bounce', { bounce_type: 'soft', class: 'mailbox_full', reason: 'full' })
  await record('complaint', { feedback_type: 'abuse' })
  await record('unsubscribe', { scope: 'list', list_id: 12 })
  await record('unsubscribe', { scope: 'list', list_id: 12, list_ids: [12, 13] })
  const got = await receiver.calls(8)
  const common = {
    id,
    email: 'anna@example.com',
    camp_id: campaignId,
    'campaign name': 'Spring',
    date_sent: '2026-07-01 12:00:00',
    date_event: '2026-12-01 12:30:00',
    ts_sent: Date.parse('2026-07-01T10:00:00Z') / 1000,
    ts_event: at.getTime() / 1000,
    ts: at.getTime() / 1000,
    tag: 'spring',
  }
  assert.deepEqual(
    got.map((one) => one.body),
    [
      { ...common, event: 'delivered', sending_ip: '' },
      { ...common, event: 'opened', classification: 'human' },
      { ...common, event: 'click', URL: 'https://shop.example/', classification: 'human' },
      { ...common, event: 'hard_bounce', reason: 'no such user', sending_ip: '' },
      { ...common, event: 'soft_bounce', reason: 'full', sending_ip: '' },
      { ...common, event: 'spam', reason: 'abuse' },
      { ...common, event: 'unsubscribe', list_id: [12], sending_ip: '' },
      { ...common, event: 'unsubscribe', list_id: [12, 13], sending_ip: '' },
    ],
  )
  assert.equal(other.got.length, 0)
})

test('a contact that comes onto a list, is changed and is deleted', async () => {
  const { receiver, id, call } = await shop()
  const list = (await call('POST', '/v3/contacts/lists', { name: 'News' })).body.id as number
  await call('POST', '/v3/contacts', { email: 'ben@example.com', listIds: [list] })
  await call('PUT', '/v3/contacts/ben@example.com', { attributes: { FIRSTNAME: 'Ben' } })
  await call('PUT', '/v3/contacts/ben@example.com', { attributes: { FIRSTNAME: 'Ben' } })
  await call('PUT', '/v3/contacts/ben@example.com', { emailBlacklisted: true })
  await call('DELETE', '/v3/contacts/ben@example.com')
  const got = await receiver.calls(4)
  const told = got.map(({ body, headers }) => {
    const { key, date, ts, ...rest } = body
    assert.equal(key, headers['webhook-id'])
    assert.match(date, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    assert.ok(Math.abs(ts - Date.now() / 1000) < 60)
    return rest
  })
  const common = { id, email: 'ben@example.com' }
  assert.deepEqual(told, [
    { ...common, event: 'list_addition', list_id: [list] },
    { ...common, event: 'contact_updated', content: [{ FIRSTNAME: 'Ben' }] },
    { ...common, event: 'contact_updated', content: [{ emailBlacklisted: true }] },
    { ...common, event: 'contact_deleted', list_id: [list] },
  ])
})

test('what others announce reaches whoever asks for it, once the transaction is through', async () => {
  const { accountId, receiver, id } = await shop(['domainBroken'])
  const at = new Date()
  const announcement = { accountId, event: 'domainBroken', data: { domain: 'shop.example' }, at } as const
  await db
    .transaction(async (tx) => {
      await announce(tx, announcement)
      throw new Error('taken back')
    })
    .catch(() => {})
  await db.transaction((tx) => announce(tx, { ...announcement, data: { domain: 'mail.example' } }))
  const [got, ...others] = await receiver.calls(1)
  const { key: _, date: __, ...rest } = got?.body ?? {}
  const ts = Math.floor(at.getTime() / 1000)
  assert.deepEqual([rest, others], [{ id, event: 'domain_broken', ts, domain: 'mail.example' }, []])
})

test('erasing a person takes what is to be told about them with it', async () => {
  const { accountId, receiver, call } = await shop()
  await call('POST', '/v3/contacts', { email: 'cora@example.com' })
  await receiver.close()
  await call('PUT', '/v3/contacts/cora@example.com', { attributes: { FIRSTNAME: 'Cora' } })
  const exported = await call('GET', '/api/v1/contacts/export?email=cora@example.com')
  assert.deepEqual(
    exported.body.webhooks.map((one: { event: string; data: object }) => [one.event, one.data]),
    [['contact_updated', { content: [{ FIRSTNAME: 'Cora' }] }]],
  )
  const erased = await call('POST', '/api/v1/contacts/erase', { email: 'cora@example.com', confirm: true })
  // The change, and the deletion itself.
  assert.equal(erased.body.erased.webhooks_under_way + erased.body.erased.webhooks, 2, erased.text)
  const left = await db.many(
    row<{ id: string }>({ id: text }),
    sql`select id from webhook_queue where account_id = ${accountId}`,
  )
  assert.deepEqual(left, [])
})

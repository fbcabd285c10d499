import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { silentLog } from '../../../kernel/log.ts'
import { sql } from '../../../kernel/sql.ts'
import { workExports, workPage } from '../../contacts/export/work-exports.ts'
import { readCsv } from '../../contacts/import/csv.ts'
import {
  addContact,
  addEvent,
  addMessage,
  app,
  base,
  call,
  create,
  db,
  put,
  shop,
} from '../fixtures/campaigns.ts'
import { type RecipientsType, recipientsTypes } from './kinds.ts'
import { readRecipients } from './read-recipients.ts'

const told: object[] = []
const needs = {
  db,
  log: silentLog,
  readers: { EXPORTRECIPIENTS: readRecipients },
  notify: async (url: string, message: object) => void told.push({ url, ...message }),
}
const soon = () => new Date(Date.now() + 1_000)
const fetched = (url: string) => app.call('GET', new URL(url).pathname, { key: null })

const shopper = (key: string, id: number) => ({
  ask: (body: object) => call(key, 'POST', `${base}/${id}/exportRecipients`, body),
  read: async (processId: number) => (await call(key, 'GET', `/v3/processes/${processId}`)).body,
})

async function started(key: string, id: number, recipientsType: RecipientsType, more: object = {}) {
  const { status, body, text } = await shopper(key, id).ask({ recipientsType, ...more })
  assert.equal(status, 202, text)
  return body.processId as number
}

async function exported(key: string, id: number, type: RecipientsType, more: object = {}) {
  const processId = await started(key, id, type, more)
  await workExports(needs, soon())
  return shopper(key, id).read(processId)
}

async function recordsOf({ export_url }: { export_url: string }) {
  const [heading, ...records] = [...readCsv((await fetched(export_url)).text)]
  return records.map(({ cells }) =>
    Object.fromEntries((heading?.cells ?? []).map((name, i) => [name, cells[i]])),
  )
}

const namesOf = async (process: { export_url: string }) =>
  (await recordsOf(process)).map(({ Email_ID }) => Email_ID?.split('@')[0])

/** anna read it, bob's proxy did, a robot went through cleo's, dora and emil bounced, finn was not written to. */
async function sent() {
  const made = await shop(['anna', 'bob', 'cleo', 'dora', 'emil', 'finn'])
  const { accountId, key, listId } = made
  const id = await create(key, { recipients: { listIds: [listId] } })
  await put(id, 'sent')
  const add = (name: string, status: string) => addMessage({ accountId, id, name, status, listId })
  const event = async (message: Promise<string> | string, type: string, data: object = {}) =>
    addEvent(accountId, await message, type, data)
  const anna = await add('anna', 'delivered')
  for (const type of ['open', 'click'])
    await event(anna, type, { classification: 'human', url: 'https://a.example' })
  await event(anna, 'unsubscribe', { scope: 'all' })
  await event(add('bob', 'delivered'), 'open', { classification: 'privacy_proxy' })
  const cleo = await add('cleo', 'sent')
  for (const type of ['open', 'click']) await event(cleo, type, { classification: 'robot' })
  await event(add('dora', 'failed'), 'bounce', { bounce_type: 'hard', reason: '=no such user; gone' })
  await event(add('emil', 'failed'), 'bounce', { bounce_type: 'soft', reason: 'mailbox full' })
  await add('finn', 'suppressed')
  return { ...made, id }
}

describe('an export of recipients', () => {
  test('has the attributes of whom it was sent to, whose address may be another’s by now', async () => {
    const { key, id, listId } = await sent()
    const attributes = { EMAIL: 'annie@example.com', FIRSTNAME: 'Annie' }
    assert.equal((await call(key, 'PUT', '/v3/contacts/anna@example.com', { attributes })).status, 204)
    await addContact(key, listId, 'anna')
    const found = await recordsOf(await exported(key, id, 'clickers', { exportAttributes: ['FIRSTNAME'] }))
    assert.deepEqual(
      found.map(({ Email_ID, FIRSTNAME }) => [Email_ID, FIRSTNAME]),
      [['anna@example.com', 'Annie']],
    )
  })

  test('is by what they did, counted by the filters of the account', async () => {
    const { key, id } = await sent()
    const found: Record<string, string> = {}
    for (const type of recipientsTypes) found[type] = (await namesOf(await exported(key, id, type))).join(' ')
    assert.deepEqual(found, {
      all: 'anna bob cleo dora emil',
      nonClickers: 'bob cleo',
      nonOpeners: 'bob cleo',
      clickers: 'anna',
      openers: 'anna',
      softBounces: 'emil',
      hardBounces: 'dora',
      unsubscribed: 'anna',
    })
    const all = { exclude_robot_activity: false, exclude_privacy_proxy_opens: false }
    await call(key, 'PUT', '/api/v1/settings', all)
    const raw = async (type: RecipientsType) => (await namesOf(await exported(key, id, type))).join(' ')
    assert.deepEqual([await raw('openers'), await raw('clickers')], ['anna bob cleo', 'anna cleo'])
    assert.deepEqual([await raw('nonOpeners'), await raw('nonClickers')], ['', 'bob'])
  })

  test('has the contacts as they are now, and why mail bounced', async () => {
    const { key, id } = await sent()
    await call(key, 'PUT', '/v3/contacts/dora@example.com', {
      attributes: { FIRSTNAME: '+Dora', SMS: '+33612345678' },
    })
    await call(key, 'DELETE', '/v3/contacts/emil@example.com')
    const notifyURL = 'https://shop.example/done'
    const done = await exported(key, id, 'hardBounces', { notifyURL })
    assert.deepEqual(
      [done.name, done.status, done.info],
      ['CAMPAIGN_PROCESSING', 'completed', { export: { total: 1 } }],
    )
    assert.match(done.export_url, /^http:\/\/test\/exports\/[\w-]{43}$/)
    assert.deepEqual(told.at(-1), { url: notifyURL, processId: done.id, status: 'completed' })
    const [dora] = await recordsOf(done)
    assert.deepEqual(
      [dora?.Email_ID, dora?.SMS, dora?.FIRSTNAME, dora?.Reason],
      ['dora@example.com', '33612345678', "'+Dora", "'=no such user; gone"],
    )
    const [emil] = await recordsOf(await exported(key, id, 'softBounces'))
    assert.deepEqual(
      [emil?.Email_ID, emil?.FIRSTNAME, emil?.Reason],
      ['emil@example.com', '', 'mailbox full'],
    )
    const [anna] = await recordsOf(await exported(key, id, 'openers'))
    assert.deepEqual([anna?.FIRSTNAME, anna && 'Reason' in anna], ['anna', false])
    const draft = await create(key)
    assert.deepEqual(await recordsOf(await exported(key, draft, 'all')), [])
  })

  test('goes on where it stopped, and starts again when one of them is erased meanwhile', async () => {
    const { accountId, key } = await shop([])
    const id = await create(key)
    await many(accountId, id, 5_000)
    const processId = await started(key, id, 'all')
    const { read } = shopper(key, id)
    await workPage(needs, soon())
    const failing = { ...needs, db: { ...db, transaction: () => Promise.reject(new Error('away')) } as never }
    await workPage(failing, soon())
    assert.deepEqual(
      [(await read(processId)).status, (await read(processId)).info.export.total],
      ['processing', 2_000],
    )
    const later = new Date(Date.now() + 3_600_000)
    await workPage(needs, later)
    const { body } = await call(key, 'POST', '/api/v1/contacts/erase', {
      email: 'p7@example.com',
      confirm: true,
    })
    assert.equal(body.erased.export_files, 1)
    await Promise.all([1, 2, 3].map(() => workExports(needs, later)))
    await workExports(needs, later)
    const done = await read(processId)
    const names = await namesOf(done)
    assert.deepEqual([done.status, done.info.export.total, names.length], ['completed', 4_999, 4_999])
    assert.deepEqual([new Set(names).size, names.includes('p7')], [4_999, false])
    await call(key, 'POST', '/api/v1/contacts/erase', { email: 'p8@example.com', confirm: true })
    assert.equal((await fetched(done.export_url)).status, 404)
    assert.match((await read(processId)).error, /erased/)
  })

  test('refuses what it cannot do, and is nobody else’s', async () => {
    const { key, id } = await sent()
    const { ask } = shopper(key, id)
    const bad = [{}, { recipientsType: null }, { recipientsType: 'some' }, { recipientsType: ['all'] }]
    for (const body of [...bad, { recipientsType: 'all', notifyURL: 'ftp://x' }]) {
      const reply = await ask(body)
      assert.equal(reply.status, 400, JSON.stringify(body))
    }
    const other = await shop([])
    const body = { recipientsType: 'all' }
    const done = await exported(key, id, 'all')
    assert.equal((await call(other.key, 'GET', `/v3/processes/${done.id}`)).status, 404)
    for (const foreign of [id, 999_999])
      assert.equal((await shopper(other.key, foreign).ask(body)).status, 404)
    for (const path of ['x', '9007199254740993', '%00', '-1'])
      assert.equal((await call(key, 'POST', `${base}/${path}/exportRecipients`, body)).status, 400, path)
    const theirs = await create(other.key)
    assert.deepEqual(await namesOf(await exported(other.key, theirs, 'all')), [])
  })
})

const many = (accountId: string, id: number, count: number) =>
  db.run(sql`
    insert into messages
      (id, account_id, key_id, status, source, mode, stream, sender, recipient, subject, campaign_id, message_id,
       created_at)
    select lpad(to_hex(n), 32, '0')::uuid, ${accountId}, gen_random_uuid(),
           case n % 2 when 0 then 'sent' else 'delivered' end, 'campaign', 'live', 'marketing',
           'news@shop.example', 'p' || n || '@example.com', 'Hello', ${id}::bigint,
           n::text, now()
      from generate_series(1, ${count}::int) n`)

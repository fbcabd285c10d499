import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { readConsentDate } from './contact-body.ts'

const app = await makeApp({
  env: { POSTHORN_RATE_LIMIT_FACTOR: '100' },
})
const { db } = app.pools

type Body = Record<string, unknown>

const post = (body: Body, key = app.key) => app.call('POST', '/v3/contacts', { key, body })
const put = (who: string, body: Body, key = app.key) =>
  app.call('PUT', `/v3/contacts/${encodeURIComponent(who)}`, { key, body })
const get = async (who: string, key = app.key) =>
  (await app.call('GET', `/v3/contacts/${encodeURIComponent(who)}`, { key })).body

let made = 0
async function make(body: Body = {}, key = app.key): Promise<{ id: number; email: string }> {
  const email = `person${++made}@example.com`
  const { status, body: reply, text: raw } = await post({ email, ...body }, key)
  assert.equal(status, 201, raw)
  return { id: reply.id, email }
}

async function makeList(accountId: string): Promise<string> {
  const Id = row<{ id: string }>({ id: text })
  const { id } = await db.one(
    Id,
    sql`insert into lists (account_id, name, created_at) values (${accountId}, 'news', now()) returning id`,
  )
  return id
}

describe('a contact', () => {
  test('is created, read by address and by number, changed and deleted', async () => {
    const { status, body } = await post({
      email: ' Anna.Lee@Example.COM',
      attributes: { firstname: 'Anna', NOPE: 1 },
    })
    assert.equal(status, 201)
    const byEmail = await get('ANNA.LEE@example.com')
    assert.deepEqual(await get(String(body.id)), byEmail)
    assert.deepEqual(
      [byEmail.email, byEmail.attributes, byEmail.status, byEmail.emailBlacklisted, byEmail.listIds],
      ['anna.lee@example.com', { FIRSTNAME: 'Anna' }, 'subscribed', false, []],
    )
    assert.equal(
      (await put('anna.lee@example.com', { attributes: { LASTNAME: 'Lee', FIRSTNAME: null } })).status,
      204,
    )
    assert.deepEqual((await get(String(body.id))).attributes, { LASTNAME: 'Lee' })
    assert.equal((await app.call('DELETE', `/v3/contacts/${body.id}`)).status, 204)
    const gone = await app.call('GET', `/v3/contacts/${body.id}`)
    assert.deepEqual(
      [gone.status, gone.body.code, gone.body.message],
      [404, 'document_not_found', 'Contact does not exist'],
    )
  })

  test('that exists is refused, or changed with updateEnabled', async () => {
    const { email } = await make({ attributes: { FIRSTNAME: 'A' } })
    const again = await post({ email: email.toUpperCase(), attributes: { FIRSTNAME: 'B' } })
    assert.deepEqual(
      [again.status, again.body.code, again.body.message, again.body.metadata],
      [
        400,
        'duplicate_parameter',
        'Unable to create contact, email is already associated with another Contact',
        { duplicate_identifiers: ['email'] },
      ],
    )
    const changed = await post({ email, attributes: { LASTNAME: 'C' }, updateEnabled: true })
    assert.deepEqual([changed.status, changed.text], [204, ''])
    assert.deepEqual((await get(email)).attributes, { FIRSTNAME: 'A', LASTNAME: 'C' })
  })

  test('may change its address, unless another has it', async () => {
    const [one, other] = [await make(), await make()]
    const taken = await put(one.email, { attributes: { EMAIL: other.email } })
    assert.deepEqual(
      [taken.status, taken.body.message],
      [400, 'Unable to update contact, email is already associated with another Contact'],
    )
    assert.equal((await put(one.email, { attributes: { EMAIL: 'moved@example.com' } })).status, 204)
    assert.equal((await get('moved@example.com')).id, one.id)
  })

  test('without an address needs a telephone number or an own identifier', async () => {
    assert.equal((await post({ attributes: { FIRSTNAME: 'x' } })).body.message, 'email is missing')
    assert.equal((await post({ attributes: { SMS: '+33 6 12 34 56 78' } })).status, 201)
    const found = await app.call('GET', '/v3/contacts/0033612345678?identifierType=phone_id')
    for (const path of [
      '%2B33612345678',
      '0033612345678',
      '33612345678',
      '%2B33612345678?identifierType=whatsapp_id',
    ])
      assert.equal((await app.call('GET', `/v3/contacts/${path}`)).body.id, found.body.id, path)
    const landline = '33612345678?identifierType=landline_number_id'
    assert.equal((await app.call('GET', `/v3/contacts/${landline}`)).body.id, found.body.id)
    assert.equal((await app.call('GET', '/v3/contacts/%2B33699999999')).status, 404)
    assert.equal((await app.call('PUT', '/v3/contacts/%2B33612345678', { body: {} })).status, 400)
    assert.deepEqual(
      [found.status, found.body.attributes.SMS, found.body.email],
      [200, '33612345678', undefined],
    )
    assert.equal((await post({ ext_id: 'crm-7' })).status, 201)
    assert.equal((await app.call('GET', '/v3/contacts/crm-7?identifierType=ext_id')).body.ext_id, 'crm-7')
  })

  test('with input that cannot be is refused, never an error of ours', async () => {
    for (const [body, pattern] of [
      [{ email: 'nobody' }, /Invalid email address/],
      [{ email: 'a@example.com', attributes: { SMS: 'x' } }, /Invalid phone number/],
      [{ email: 'a@example.com', attributes: { SMS: { toString: 1 } } }, /Invalid phone number/],
      [{ attributes: { EMAIL: { toString: 1 } } }, /EMAIL must be a text/],
      [{ email: 'a@example.com', attributes: { EXT_ID: { toString: 1 } } }, /EXT_ID must be a text/],
      [{ email: 'a@example.com', listIds: [999999999] }, /List ID 999999999 does not exist/],
      [{ email: 'a@example.com', listIds: [1e30] }, /./],
      [{ email: 'a@example.com', consentDate: '31/02/2026' }, /consentDate/],
      [{ email: 'a@example.com', consent_ip: '1.2.3' }, /consent_ip/],
    ] as [Body, RegExp][]) {
      const { status, body: said } = await post(body)
      assert.equal(status, 400, JSON.stringify(body))
      assert.match(said.message, pattern)
    }
    for (const path of ['99999999999999999999', '%00', 'a%00@example.com', '-1', '1.5', '%20'])
      assert.ok([400, 404].includes((await app.call('GET', `/v3/contacts/${path}`)).status), path)
  })

  test('of another account is not there', async () => {
    const { id, email } = await make()
    const { key } = await app.makeAccount()
    for (const who of [String(id), email]) {
      assert.equal((await app.call('GET', `/v3/contacts/${who}`, { key })).status, 404)
      assert.equal((await put(who, { attributes: { FIRSTNAME: 'Eve' } }, key)).status, 404)
      assert.equal((await app.call('DELETE', `/v3/contacts/${who}`, { key })).status, 404)
    }
    assert.equal((await post({ email }, key)).status, 201)
    assert.deepEqual((await get(email)).attributes, {})
  })
})

describe('many at once', () => {
  test('of the same address make one contact', async () => {
    const replies = await Promise.all(Array.from({ length: 10 }, () => post({ email: 'once@example.com' })))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, ...Array(9).fill(400)])
  })
})

describe('consent', () => {
  test('each change is a row of its own; the contact shows the one in force', async () => {
    const { id, email } = await make({
      consentDate: '05/11/2026',
      consentSource: 'shop',
      consent_ip: '192.0.2.7',
    })
    await put(email, { consentSource: 'fair', consent_text: 'I agree.' })
    await put(email, { consentSource: 'fair' })
    const found = await get(email)
    assert.deepEqual(
      [found.consentDate, found.consentSource, found.consent_ip, found.consent_text],
      ['2026-11-05T00:00:00.000Z', 'fair', '192.0.2.7', 'I agree.'],
    )
    const Source = row<{ source: string }>({ source: text })
    const ledger = await db.many(
      Source,
      sql`select source from consents where account_id = ${app.accountId} and contact_id = ${id} order by id`,
    )
    assert.deepEqual(
      ledger.map(({ source }) => source),
      ['shop', 'fair'],
    )
  })

  test('of a day to come is refused, of tomorrow elsewhere in the world is not', async () => {
    const { email } = await make()
    const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
    const refused = [
      await put(email, { consentDate: inHours(25) }),
      await post({ email: 'to-come@example.com', consentDate: '01/01/2999' }),
    ]
    for (const { status, body } of refused)
      assert.deepEqual([status, body.message], [400, 'consentDate must not be in the future'])
    assert.equal((await put(email, { consentDate: inHours(23) })).status, 204)
  })

  test('dates come as ISO 8601 or day first, and must exist', () => {
    const read = (text: string) => readConsentDate(text)?.toISOString()
    assert.equal(read('2026-11-15T12:00:00+02:00'), '2026-11-15T10:00:00.000Z')
    assert.equal(read('2026-11-15 12:00'), '2026-11-15T12:00:00.000Z')
    assert.equal(read('1/2/2026'), '2026-02-01T00:00:00.000Z')
    for (const text of ['', '2026-13-01', '29/02/2026', '15-11-2026', '2026-11-15T25:00:00Z', 'yesterday'])
      assert.equal(read(text), undefined, text)
  })
})

describe('blacklisting', () => {
  test('unsubscribes and suppresses; undone, the address may be written to again', async () => {
    const { email } = await make({ emailBlacklisted: true })
    const suppressed = async () => (await app.call('GET', `/api/v1/suppressions?email=${email}`)).body.data
    assert.deepEqual([(await get(email)).status, (await suppressed())[0]?.reason], ['unsubscribed', 'manual'])
    await put(email, { emailBlacklisted: false })
    assert.deepEqual([(await get(email)).emailBlacklisted, await suppressed()], [false, []])
  })
})

describe('tags', () => {
  test('are added once, created when unknown, and taken off', async () => {
    const { email } = await make()
    const call = (method: string, tags: string[]) =>
      app.call(method, `/v3/contacts/${email}/tags`, { body: { tags } })
    assert.deepEqual((await call('POST', ['vip', 'new', 'vip'])).body, { tags: ['new', 'vip'] })
    assert.deepEqual((await call('POST', ['vip', 'é'])).body.tags.length, 3)
    assert.deepEqual((await call('DELETE', ['vip', 'never'])).body.tags.includes('vip'), false)
    assert.equal((await call('POST', [' '])).status, 400)
    assert.equal(
      (await app.call('POST', '/v3/contacts/no@example.com/tags', { body: { tags: ['x'] } })).status,
      404,
    )
  })
})

describe('history', () => {
  test('has a row for each changed attribute, newest first, in pages', async () => {
    const { id, email } = await make({ attributes: { FIRSTNAME: 'A' } })
    await put(email, { attributes: { FIRSTNAME: 'B', LASTNAME: 'L' } })
    await put(email, { attributes: { FIRSTNAME: 'B' } })
    const first = await app.call('GET', `/v3/contacts/${id}/history?limit=2`)
    assert.equal(first.body.count, 4)
    const { body: next } = await app.call(
      'GET',
      `/v3/contacts/${id}/history?limit=2&cursor=${first.body.next_cursor}`,
    )
    const all = [...first.body.history, ...next.history]
    assert.deepEqual(
      all.map(({ attribute, oldValue, newValue }: Body) => [attribute, oldValue, newValue]).sort(),
      [
        ['EMAIL', null, email],
        ['FIRSTNAME', null, 'A'],
        ['FIRSTNAME', 'A', 'B'],
        ['LASTNAME', null, 'L'],
      ],
    )
    assert.equal(next.next_cursor, null)
  })
})

describe('the list', () => {
  test('is filtered, counted exactly and paged both ways', async () => {
    const { accountId, key } = await app.makeAccount()
    const listId = await makeList(accountId)
    for (let i = 0; i < 5; i++)
      await make({ attributes: { FIRSTNAME: `F${i % 2}` }, listIds: i < 3 ? [listId] : [] }, key)
    const list = async (query: string) => (await app.call('GET', `/v3/contacts${query}`, { key })).body
    const all = await list('?limit=2')
    assert.deepEqual([all.count, all.contacts.length], [5, 2])
    const rest = await list(`?limit=2&cursor=${all.next_cursor}`)
    assert.ok(rest.contacts[0].id < all.contacts[1].id)
    assert.equal((await list('?sort=asc&limit=1')).contacts[0].id, (await list('?offset=4')).contacts[0].id)
    assert.deepEqual(
      [(await list(`?listIds=${listId}`)).count, (await list(`?listIds[]=${listId}`)).contacts.length],
      [3, 3],
    )
    assert.equal((await list(`?listIds=${listId},999999991,999999992`)).count, 3)
    assert.equal((await list(`?filter=${encodeURIComponent('equals(FIRSTNAME,"F1")')}`)).count, 2)
    const segment = { name: 'ones', attribute: 'FIRSTNAME', operator: 'eq', value: 'F1' }
    const { body: made } = await app.call('POST', '/v3/segments', { key, body: segment })
    const ones = await list(`?segmentId=${made.id}&limit=1`)
    assert.deepEqual([ones.count, ones.contacts.length], [2, 1])
    assert.equal((await list('?segmentId=999999')).code, 'document_not_found')
    assert.equal((await list('?createdSince=2999-01-01T00:00:00Z')).count, 0)
    assert.equal((await list('?limit=1001')).code, 'out_of_range')
    assert.equal((await list('?filter=all')).code, 'invalid_parameter')
    assert.equal((await list('?ids=x')).code, 'invalid_parameter')
  })

  test('deleting a contact is counted too, in its lists as well', async () => {
    const { accountId, key } = await app.makeAccount()
    const listId = await makeList(accountId)
    const { id } = await make({ listIds: [listId] }, key)
    await make({ listIds: [listId] }, key)
    await app.call('DELETE', `/v3/contacts/${id}`, { key })
    const count = async (query: string) => (await app.call('GET', `/v3/contacts${query}`, { key })).body.count
    assert.deepEqual([await count(''), await count(`?listIds=${listId}`)], [1, 1])
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { int, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

let offsetMs = 0
const app = await makeApp({
  deliver: true,
  now: () => new Date(Date.now() + offsetMs),
  env: { POSTHORN_RATE_LIMIT_FACTOR: '100', POSTHORN_SECRET_KEY: '11'.repeat(32) },
})
const { db } = app.pools

async function setUp() {
  const { key, accountId } = await app.makeAccount()
  const call = (method: string, path: string, body?: unknown) => app.call(method, path, { key, body })
  const create = (email: string, name = 'Shop') => call('POST', '/v3/senders', { name, email })
  const validate = (id: number, otp: unknown) => call('PUT', `/v3/senders/${id}/validate`, { otp })
  const list = async (query = '') => (await call('GET', `/v3/senders${query}`)).body.senders
  /** In the newest message to the address. */
  const codeFor = async (to: string, count = 1): Promise<number> => {
    const found = await until(async () => {
      const { body } = await call('GET', `/api/v1/sandbox/messages?to=${to}`)
      return body.data.length >= count && body.data[0]
    }, `code ${count} for ${to}`)
    return Number(/code: (\d{6})\b/.exec(found.text)?.[1])
  }
  return { key, accountId, call, create, validate, list, codeFor }
}

const wrong = (code: number) => (code === 999_999 ? 100_000 : code + 1)

/** Addresses get few codes a day, whichever account asks: each test has its own. */
let people = 0
const somebody = () => `ann${++people}@example.com`

describe('a sender', () => {
  test('is active when the code that was mailed to it comes back', async () => {
    const { call, create, validate, list, codeFor } = await setUp()
    const email = somebody()
    const made = await create(email)
    assert.deepEqual([made.status, made.body], [201, { id: made.body.id, spfError: true, dkimError: true }])
    const { id } = made.body
    assert.deepEqual(await list(), [{ id, name: 'Shop', email, active: false, ips: [] }])
    const code = await codeFor(email)
    const refused = await validate(id, wrong(code))
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_parameter'])
    assert.equal(refused.body.message, 'Invalid OTP code provided')
    assert.deepEqual([(await validate(id, code)).status, (await list())[0].active], [204, true])
    const other = somebody()
    await create(other)
    const { body: mailed } = await call('GET', `/api/v1/messages?to=${other}`)
    assert.equal(mailed.data[0].from, `Shop <${email}>`)
    // Again, with any code: it is proven.
    assert.equal((await validate(id, wrong(code))).status, 204)
  })

  test('under another name is proven with the first', async () => {
    const { create, validate, list, codeFor } = await setUp()
    const email = somebody()
    const { id } = (await create(email)).body
    await validate(id, await codeFor(email))
    await create(email.toUpperCase(), 'Other')
    assert.deepEqual(
      (await list()).map((one: { active: boolean }) => one.active),
      [true, true],
    )
    const twice = await create(email, 'Other')
    assert.deepEqual([twice.status, twice.body.code], [400, 'duplicate_parameter'])
  })

  test('takes the code under the name of older clients, and nothing that has no text', async () => {
    const { create, call, codeFor } = await setUp()
    const email = somebody()
    const { id } = (await create(email)).body
    for (const name of [{ toString: 'prototype' }, ['1'], true, 'x', '12345']) {
      const { status, body } = await call('PUT', `/v3/senders/${id}/validate`, { name })
      assert.deepEqual([status, body.code], [400, 'missing_parameter'], JSON.stringify(name))
    }
    const code = await codeFor(email)
    assert.equal(
      (await call('PUT', `/v3/senders/${id}/validate`, { otp: null, name: String(code) })).status,
      204,
    )
  })

  test('has five tries, also when they come at once, and a day', async () => {
    const { create, validate, call, codeFor } = await setUp()
    const email = somebody()
    const { id } = (await create(email)).body
    const first = await codeFor(email)
    const tries = await Promise.all(Array.from({ length: 8 }, () => validate(id, wrong(first))))
    const spent = tries.filter(({ body }) => body.message === 'Invalid OTP code provided')
    assert.equal(spent.length, 5)
    assert.equal((await validate(id, first)).body.message, 'OTP code has expired')
    assert.equal((await call('PUT', `/v3/senders/${id}`, { email })).status, 204)
    const second = await codeFor(email, 2)
    offsetMs = 25 * 3_600_000
    assert.equal((await validate(id, second)).body.message, 'OTP code has expired')
    offsetMs = 0
    assert.equal((await validate(id, second)).status, 204)
  })

  test('whose address is changed has to be proven anew', async () => {
    const { create, validate, list, call, codeFor } = await setUp()
    const [email, other] = [somebody(), somebody()]
    const { id } = (await create(email)).body
    const first = await codeFor(email)
    await validate(id, first)
    assert.equal((await call('PUT', `/v3/senders/${id}`, { name: 'New name' })).status, 204)
    assert.equal((await list())[0].active, true)
    assert.equal((await call('PUT', `/v3/senders/${id}`, { email: other })).status, 204)
    assert.equal((await list())[0].active, false)
    assert.equal((await validate(id, first)).status, 400)
    assert.equal((await validate(id, await codeFor(other))).status, 204)
    assert.deepEqual((await list())[0], { id, name: 'New name', email: other, active: true, ips: [] })
  })

  test('is listed by domain, and gone when it is deleted', async () => {
    const { create, list, call } = await setUp()
    const { id } = (await create(somebody())).body
    await create('bob@other.example')
    assert.equal((await list('?domain=EXAMPLE.com')).length, 1)
    assert.deepEqual(await list('?domain=no%20domain'), [])
    assert.deepEqual(await list('?ip=192.0.2.1'), [])
    assert.equal((await call('DELETE', `/v3/senders/${id}`)).status, 204)
    assert.equal((await call('DELETE', `/v3/senders/${id}`)).status, 404)
    assert.equal((await list()).length, 1)
  })

  test('of another account is nobody', async () => {
    const [one, two] = [await setUp(), await setUp()]
    const { id } = (await one.create(somebody())).body
    assert.deepEqual(await two.list(), [])
    for (const path of [`/v3/senders/${id}`, `/v3/senders/${id}/validate`]) {
      const reply = await two.call('PUT', path, { name: 'Mine', otp: 123456 })
      assert.deepEqual([reply.status, reply.body.code], [404, 'document_not_found'])
    }
    assert.equal((await two.call('DELETE', `/v3/senders/${id}`)).status, 404)
  })

  test('that is written wrongly is refused', async () => {
    const { call, validate, create } = await setUp()
    const bodies = [
      {},
      { name: 'x' },
      { email: somebody() },
      { name: 'x', email: 'nobody' },
      { name: 7, email: {} },
    ]
    for (const body of [
      ...bodies,
      { name: 'x'.repeat(300), email: somebody() },
      { name: 'x', email: 'a@b\0.com' },
    ])
      assert.equal((await call('POST', '/v3/senders', body)).status, 400, JSON.stringify(body))
    const { id } = (await create(somebody())).body
    for (const otp of [undefined, null, '', 'abc', 99_999, 1_000_000, 123456.5])
      assert.equal((await validate(id, otp)).status, 400, String(otp))
    for (const given of ['0', '-1', '1e3', '9007199254740993', '99999999999999999999', 'x'])
      assert.ok([400, 404].includes((await call('DELETE', `/v3/senders/${given}`)).status), given)
    assert.equal((await call('PUT', `/v3/senders/${id}`, {})).status, 400)
  })
})

describe('the code', () => {
  test('is mailed also for a test key, and no key reads it in the stored message', async () => {
    const { accountId, call, codeFor } = await setUp()
    const { key } = await app.makeKey({ mode: 'test', senderDomains: ['other.example'] }, accountId)
    const email = somebody()
    const body = { name: 'Shop', email }
    assert.equal((await app.call('POST', '/v3/senders', { key, body })).status, 201)
    const code = String(await codeFor(email))
    const live = sql`select count(*)::int as n from messages where account_id = ${accountId} and mode = 'live'`
    assert.equal((await db.one(row<{ n: number }>({ n: int }), live)).n, 1)
    const { body: log } = await call('GET', `/v3/smtp/emails?email=${email}`)
    const { text } = await call('GET', `/v3/smtp/emails/${log.transactionalEmails[0].uuid}`)
    const held = await call('GET', `/api/v1/contacts/export?email=${email}`)
    assert.ok(text.includes('enter this code') && held.text.includes('enter this code'))
    assert.ok(!text.includes(code) && !held.text.includes(code))
    const stored = sql`
      select count(*)::int as n from senders where account_id = ${accountId} and strpos(senders::text, ${code}) > 0`
    assert.equal((await db.one(row<{ n: number }>({ n: int }), stored)).n, 0)
  })

  test('goes to an address five times a day, through however many accounts', async () => {
    const email = somebody()
    const accounts = await Promise.all([1, 2, 3].map(() => setUp()))
    const statuses: number[] = []
    for (const one of accounts)
      for (const name of ['A', 'B']) statuses.push((await one.create(email, name)).status)
    assert.deepEqual(statuses, [201, 201, 201, 201, 201, 429])
    assert.equal((await accounts.at(-1)?.list())?.length, 1)
  })

  test('is not mailed to a suppressed address, unless the person only unsubscribed', async () => {
    const { call, create, codeFor, list } = await setUp()
    const [email, gone] = [somebody(), somebody()]
    await call('POST', '/api/v1/suppressions', { email: gone })
    const refused = await create(gone)
    assert.deepEqual([refused.status, refused.body.code], [422, 'recipient_suppressed'])
    await db.run(sql`
      insert into suppressions (account_id, email, reason, source, created_at, id)
      select account_id, ${email}, 'unsubscribe', 'api', now(), gen_random_uuid()
        from suppressions where email = ${gone}`)
    assert.equal((await create(email)).status, 201)
    assert.ok(await codeFor(email))
    assert.equal((await list()).length, 1)
  })
})

test('a sender is part of what is held about a person', async () => {
  const { call, create } = await setUp()
  const email = somebody()
  await create(email)
  const { body: held } = await call('GET', `/api/v1/contacts/export?email=${email}`)
  assert.deepEqual([held.senders.length, held.senders[0].code_hash], [1, undefined])
  const { body } = await call('POST', '/api/v1/contacts/erase', { email, confirm: true })
  assert.equal(body.erased.senders, 1)
})

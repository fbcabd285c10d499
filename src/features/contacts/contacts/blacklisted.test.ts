import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { type Reason, reasons, suppress } from '../../suppressions/suppressions.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { accountId } = app
const { db } = app.pools

type Body = Record<string, unknown>

const post = (body: Body) => app.call('POST', '/v3/contacts', { body })
const put = (who: string, body: Body) => app.call('PUT', `/v3/contacts/${who}`, { body })
const get = async (who: string) => (await app.call('GET', `/v3/contacts/${who}`)).body
const block = (email: string, reason: Reason, source = 'test') =>
  suppress(db, { accountId, email }, { reason, source, messageId: null, at: new Date() })
const erase = (email: string) =>
  app.call('POST', '/api/v1/contacts/erase', { body: { email, confirm: true } })
const reasonOf = async (email: string) =>
  (await app.call('GET', `/api/v1/suppressions?email=${email}`)).body.data[0]?.reason
const isSendable = async (to: string) => {
  const body = { from: 'shop@example.com', to, subject: 'Hello', text: 'Hello' }
  return (await app.call('POST', '/api/v1/transactional/send', { body })).status === 202
}

let made = 0
async function make(body: Body = {}): Promise<string> {
  const email = `person${++made}@example.com`
  const { status, text } = await post({ email, ...body })
  assert.equal(status, 201, text)
  return email
}

const move = async (from: string, more: Body = {}) => {
  const to = `moved-${from}`
  const { status, text } = await put(from, { attributes: { EMAIL: to }, ...more })
  assert.equal(status, 204, text)
  return to
}

describe('a contact whose address is suppressed', () => {
  test('reads as blacklisted wherever it is read, whatever the reason; its consent is its own', async () => {
    const list = await app.call('POST', '/v3/contacts/lists', { body: { name: 'News' } })
    const segment = { name: 'Bs', attribute: 'FIRSTNAME', operator: 'eq', value: 'B' }
    const { body: bs } = await app.call('POST', '/v3/segments', { body: segment })
    const places = [
      `/v3/contacts`,
      `/v3/contacts/lists/${list.body.id}/contacts`,
      `/v3/segments/${bs.id}/contacts`,
    ]
    const listed = async (place: string) =>
      (await app.call('GET', `${place}?limit=1`)).body.contacts.map((one: Body) => [
        one.email,
        one.emailBlacklisted,
        one.status,
      ])
    for (const reason of reasons) {
      const email = await make({ attributes: { FIRSTNAME: 'B' }, listIds: [list.body.id] })
      assert.equal((await get(email)).emailBlacklisted, false)
      await block(email, reason)
      const { emailBlacklisted, status } = await get(email)
      assert.deepEqual([emailBlacklisted, status], [true, 'subscribed'])
      for (const place of places) assert.deepEqual(await listed(place), [[email, true, 'subscribed']], place)
    }
    const erased = await make()
    await erase(erased)
    await post({ email: erased })
    assert.equal((await get(erased)).emailBlacklisted, true)
  })

  test('has changed since, and again when it is lifted, for those who ask what did', async () => {
    const changes = async (email: string, act: () => Promise<unknown>) => {
      const { modifiedAt } = await get(email)
      const since = new Date(Date.parse(modifiedAt) + 1).toISOString()
      await act()
      const { body } = await app.call('GET', `/v3/contacts?modifiedSince=${since}&limit=1000`)
      return body.contacts.some((one: Body) => one.email === email)
    }
    const lift = (email: string) => app.call('DELETE', `/api/v1/suppressions/${email}`)
    for (const reason of reasons) {
      const email = await make()
      assert.equal(await changes(email, () => block(email, reason)), true, reason)
      assert.equal(await changes(email, () => block(email, reason)), false, 'it was suppressed before')
      assert.equal(await changes(email, () => lift(email)), true, reason)
    }
    const bounced = await make()
    await block(bounced, 'hard_bounce')
    const body = { contactEmail: bounced }
    const open = () => app.call('POST', '/v3/smtp/deleteHardbounces', { body })
    assert.equal(await changes(bounced, open), true)
    assert.equal(await changes(bounced, open), false)
  })

  test('is opened by emailBlacklisted: false if it was somebody’s decision, by resubscribing anyway', async () => {
    for (const reason of reasons) {
      const email = await make()
      await block(email, reason)
      assert.equal((await put(email, { emailBlacklisted: false })).status, 204)
      const isDecision = reason === 'manual' || reason === 'unsubscribe'
      assert.deepEqual(
        [(await get(email)).emailBlacklisted, await isSendable(email)],
        [!isDecision, isDecision],
      )
      await block(email, reason)
      const { status, body } = await app.call('POST', `/v3/contacts/${email}/resubscribe`)
      assert.deepEqual([status, body.status, body.emailBlacklisted], [200, 'subscribed', false])
      assert.equal(await isSendable(email), true)
    }
  })

  test('of an erased person cannot be opened, and is told so', async () => {
    const email = await make()
    await erase(email)
    await post({ email })
    for (const { status, body } of [
      await put(email, { emailBlacklisted: false }),
      await post({ email, emailBlacklisted: false, updateEnabled: true }),
      await app.call('POST', `/v3/contacts/${email}/resubscribe`),
      await app.call('POST', '/v3/contacts/batch', {
        body: { contacts: [{ email, emailBlacklisted: false }] },
      }),
      await app.call('DELETE', `/v3/smtp/blockedContacts/${email}`),
    ]) {
      assert.deepEqual([status, body.code], [409, 'invalid_parameter'])
      assert.match(body.message, /erased/)
    }
    assert.equal((await put(email, { attributes: { FIRSTNAME: 'A' } })).status, 204)
  })

  test('is unsubscribed when made on an address that was, and stays so when deleted and made again', async () => {
    const email = await make({ emailBlacklisted: true })
    await app.call('DELETE', `/v3/contacts/${email}`)
    await post({ email })
    const again = await get(email)
    assert.deepEqual([again.status, again.emailBlacklisted], ['unsubscribed', true])
  })
})

describe('a contact that moves', () => {
  test('takes along what its person said, and leaves behind what its mailbox did', async () => {
    for (const reason of reasons) {
      const from = await make()
      await block(from, reason)
      const to = await move(from)
      const goes = reason !== 'hard_bounce' && reason !== 'soft_bounce_limit'
      assert.equal(await reasonOf(to), goes ? reason : undefined)
      assert.equal(await isSendable(to), !goes)
      assert.equal(await reasonOf(from), reason)
    }
    const from = await make({ emailBlacklisted: true })
    const to = await move(from)
    const found = await get(to)
    assert.deepEqual(
      [found.status, found.emailBlacklisted, await isSendable(to)],
      ['unsubscribed', true, false],
    )
  })

  test('may be opened in the same breath; an erased person stays erased', async () => {
    const from = await make({ emailBlacklisted: true })
    const to = await move(from, { emailBlacklisted: false })
    assert.deepEqual([(await get(to)).status, await isSendable(to)], ['subscribed', true])
    assert.equal(await reasonOf(from), 'manual')
    const other = await make({ emailBlacklisted: true })
    await erase(`moved-${other}`)
    const { body } = await app.call('GET', '/api/v1/suppressions?limit=1')
    assert.deepEqual(body.data[0].erased, true)
    await move(other)
    const kept = await app.call('GET', `/api/v1/suppressions?email=moved-${other}`)
    assert.deepEqual([kept.body.data.length, kept.body.data[0].erased], [1, true])
  })

  test('onto an address whose person left is unsubscribed as well', async () => {
    const from = await make()
    await block(`moved-${from}`, 'unsubscribe')
    const to = await move(from)
    assert.equal((await get(to)).status, 'unsubscribed')
    const { body } = await app.call('GET', `/v3/contacts/${to}/history?limit=1`)
    assert.deepEqual([body.history[0].attribute, body.history[0].source], ['STATUS', 'unsubscribe'])
  })
})

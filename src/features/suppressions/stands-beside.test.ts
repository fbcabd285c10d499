import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { addContact, env, keys, look } from '../contacts/unsubscribe/fixtures/people.ts'
import { writeUnsubscribeToken } from '../contacts/unsubscribe/tokens.ts'
import { resubscribe } from '../contacts/unsubscribe/unsubscribe.ts'
import { type Reason, suppress } from './suppressions.ts'

const app = await makeApp({ env })
const { accountId } = app
const { db } = app.pools

const call = async (method: string, path: string, body?: object) => {
  const reply = await app.call(method, path, { body })
  assert.ok(reply.status < 300, reply.text)
}
const judge = (email: string, reason: Reason) =>
  suppress(db, { accountId, email }, { reason, source: 'test', messageId: null, at: new Date() })
const leave = (email: string) =>
  app.call('POST', `/u/${writeUnsubscribeToken(keys, { accountId, email })}`, { key: null })
const undo = (email: string) => resubscribe(db, { accountId, email }, new Date())
const blacklist = (email: string, emailBlacklisted: boolean) =>
  call('PUT', `/v3/contacts/${email}`, { emailBlacklisted })
const byHand = (email: string) => call('POST', '/api/v1/suppressions', { email })
const liftBounces = () => call('POST', '/v3/smtp/deleteHardbounces', {})
const reasonOf = async (email: string) => (await look(db, accountId, email)).suppression

describe('what a customer says of an address that bounces', () => {
  test('holds when the bounces are lifted, of a contact', async () => {
    const email = 'ann@example.com'
    await addContact(db, accountId, email)
    await judge(email, 'hard_bounce')
    await blacklist(email, true)
    await liftBounces()
    assert.equal(await reasonOf(email), 'manual contact')
    await blacklist(email, false)
    assert.equal(await reasonOf(email), null)
  })

  test('and by hand', async () => {
    await judge('bo@example.com', 'soft_bounce_limit')
    await byHand('bo@example.com')
    await liftBounces()
    assert.equal(await reasonOf('bo@example.com'), 'manual api')
  })
})

describe('what a person takes back', () => {
  test('is not what the customer said of them since', async () => {
    const email = 'cy@example.com'
    await addContact(db, accountId, email)
    await leave(email)
    await blacklist(email, true)
    await undo(email)
    assert.equal(await reasonOf(email), 'manual contact')
  })

  test('is not offered where it would lead nowhere', async () => {
    await leave('cleo@example.com')
    await byHand('cleo@example.com')
    const page = await leave('cleo@example.com')
    assert.doesNotMatch(page.text, /name="undo"/)
  })

  test('is their own word, under whatever else stands there', async () => {
    await byHand('di@example.com')
    await leave('di@example.com')
    await call('POST', '/v3/contacts', { email: 'di@example.com' })
    assert.equal((await look(db, accountId, 'di@example.com')).status, 'unsubscribed')
    await undo('di@example.com')
    assert.deepEqual(
      [await reasonOf('di@example.com'), (await look(db, accountId, 'di@example.com')).status],
      ['manual api', 'subscribed'],
    )
  })
})

test('who left and complained has left as a contact that is made later', async () => {
  await leave('eve@example.com')
  await judge('eve@example.com', 'complaint')
  await call('POST', '/v3/contacts', { email: 'eve@example.com' })
  await call('DELETE', '/api/v1/suppressions/eve@example.com')
  assert.equal((await look(db, accountId, 'eve@example.com')).status, 'unsubscribed')
})

test('who left and moves to an address that bounced has left there when that is lifted', async () => {
  await addContact(db, accountId, 'flo@example.com')
  await leave('flo@example.com')
  await judge('new-flo@example.com', 'hard_bounce')
  await call('PUT', '/v3/contacts/flo@example.com', { attributes: { EMAIL: 'new-flo@example.com' } })
  await liftBounces()
  assert.equal(await reasonOf('new-flo@example.com'), 'unsubscribe unsubscribe')
})

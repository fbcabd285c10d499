import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { addContact, env, keys, look } from '../contacts/unsubscribe/fixtures/people.ts'
import { writeUnsubscribeToken } from '../contacts/unsubscribe/tokens.ts'
import { resubscribe } from '../contacts/unsubscribe/unsubscribe.ts'
import { suppress } from './suppressions.ts'

const app = await makeApp({ env })
const { accountId } = app
const { db } = app.pools

const leave = (email: string) =>
  app.call('POST', `/u/${writeUnsubscribeToken(keys, { accountId, email })}`, { key: null })
const bounce = (email: string) =>
  suppress(
    db,
    { accountId, email },
    { reason: 'hard_bounce', source: 'bounce', messageId: null, at: new Date() },
  )
const liftBounces = () => app.call('POST', '/v3/smtp/deleteHardbounces', { body: {} })
const reasonOf = async (email: string) => (await look(db, accountId, email)).suppression

describe('somebody who leaves while their address counts as bouncing', () => {
  test('has left when the bounces are lifted, also as a contact that is made later', async () => {
    for (const email of ['ann@example.com', 'other@example.com']) await bounce(email)
    await leave('ann@example.com')
    assert.equal(await reasonOf('ann@example.com'), 'hard_bounce bounce')
    await app.call('POST', '/v3/contacts', { body: { email: 'ann@example.com' } })
    assert.equal((await look(db, accountId, 'ann@example.com')).status, 'unsubscribed')
    assert.equal((await liftBounces()).status, 204)
    assert.equal(await reasonOf('ann@example.com'), 'unsubscribe unsubscribe')
    assert.equal(await reasonOf('other@example.com'), null)
    const body = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hello', text: 'Hi' }
    assert.equal((await app.call('POST', '/api/v1/transactional/send', { body })).status, 422)
    await resubscribe(db, { accountId, email: 'ann@example.com' }, new Date())
    assert.deepEqual(await reasonOf('ann@example.com'), null)
  })

  test('takes that back without taking back the bounce', async () => {
    const email = 'bob@example.com'
    await bounce(email)
    await leave(email)
    await resubscribe(db, { accountId, email }, new Date())
    assert.equal(await reasonOf(email), 'hard_bounce bounce')
    await liftBounces()
    assert.equal(await reasonOf(email), null)
  })

  test('has left under the address that their contact moves to as well', async () => {
    await addContact(db, accountId, 'cleo@example.com')
    await bounce('cleo@example.com')
    await leave('cleo@example.com')
    const body = { attributes: { EMAIL: 'new-cleo@example.com' } }
    assert.equal((await app.call('PUT', '/v3/contacts/cleo@example.com', { body })).status, 204)
    assert.equal(await reasonOf('new-cleo@example.com'), 'unsubscribe unsubscribe')
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { readId } from '../../../kernel/id.ts'
import { suppress } from '../../suppressions/suppressions.ts'
import { addContact, addList, env, keys, look, unsubscribeEventsOf } from './fixtures/people.ts'
import { writeUnsubscribeToken } from './tokens.ts'
import { resubscribe, savePreferences, unsubscribe } from './unsubscribe.ts'

const app = await makeApp({
  env,
})
const { accountId } = app
const { db } = app.pools
const at = new Date()

const pathOf = (token: Parameters<typeof writeUnsubscribeToken>[1]) =>
  `/v3/unsubscribe/${writeUnsubscribeToken(keys, token)}`
const get = (path: string) => app.call('GET', path, { key: null })
const post = (path: string) => app.call('POST', path, { key: null })

async function send(to: string): Promise<string> {
  const message = { from: 'shop@example.com', to, subject: 'Hello', text: 'Hello' }
  const { body, text } = await app.call('POST', '/api/v1/transactional/send', { body: message })
  const id = readId('msg', body.id ?? '')
  assert.ok(id, text)
  return id
}

const eventsOf = (messageId: string) => unsubscribeEventsOf(db, accountId, messageId)

describe('a link in mail to an address that the person has left', () => {
  async function moved(name: string) {
    const [from, to] = [`${name}@example.com`, `new-${name}@example.com`]
    await app.call('POST', '/v3/contacts', { body: { email: from } })
    const contact = String((await app.call('GET', `/v3/contacts/${from}`)).body.id)
    const messageId = await send(from)
    const lists = [
      await addList(db, accountId, 'News', [contact]),
      await addList(db, accountId, 'Offers', [contact]),
    ]
    await app.call('PUT', `/v3/contacts/${from}`, { body: { attributes: { EMAIL: to } } })
    return { from, to, messageId, lists }
  }

  test('unsubscribes them where they are now, and back', async () => {
    const { from, to, messageId } = await moved('iris')
    const token = { accountId, email: from, messageId }
    assert.equal((await get(pathOf(token))).body.status, 'subscribed')
    await post(pathOf(token))
    const left = await look(db, accountId, to)
    assert.deepEqual([left.status, left.suppression], ['unsubscribed', 'unsubscribe unsubscribe'])
    assert.equal(left.history.at(-1), 'STATUS "subscribed" "unsubscribed" unsubscribe')
    assert.equal((await look(db, accountId, from)).suppression, 'unsubscribe unsubscribe')
    assert.equal((await get(pathOf(token))).body.status, 'unsubscribed')
    assert.equal((await get(pathOf({ accountId, email: to }))).body.status, 'unsubscribed')
    assert.equal((await eventsOf(messageId)).length, 1)
    await resubscribe(db, token, at)
    const back = await look(db, accountId, to)
    assert.deepEqual([back.status, back.suppression], ['subscribed', null])
    assert.equal((await look(db, accountId, from)).suppression, null)
  })

  test('takes them off its list, and what they choose is theirs', async () => {
    const { from, to, lists } = await moved('jane')
    const [news = '', offers = ''] = lists
    const token = { accountId, email: from, listId: news }
    assert.equal((await get(pathOf(token))).body.status, 'subscribed')
    await post(pathOf(token))
    const left = await look(db, accountId, to)
    assert.deepEqual([left.lists, left.left_lists, left.suppression], [[offers], [news], null])
    const choice = { shown: lists, kept: [news], nothing: false, wasNothing: false }
    await savePreferences(db, token, choice, at)
    const chosen = await look(db, accountId, to)
    assert.deepEqual([chosen.lists, chosen.left_lists], [[news], [offers]])
  })

  test('is about whoever has the address by now', async () => {
    const { from, to } = await moved('kate')
    await addContact(db, accountId, from)
    await post(pathOf({ accountId, email: from }))
    assert.equal((await look(db, accountId, from)).status, 'unsubscribed')
    const other = await look(db, accountId, to)
    assert.deepEqual([other.status, other.suppression], ['subscribed', null])
  })

  test('still works when the old mailbox is dead, which says nothing of the new one', async () => {
    const { from, to } = await moved('lena')
    await suppress(
      db,
      { accountId, email: from },
      { reason: 'hard_bounce', source: 'test', messageId: null, at },
    )
    assert.equal((await get(pathOf({ accountId, email: from }))).body.status, 'subscribed')
    await post(pathOf({ accountId, email: from }))
    assert.equal((await look(db, accountId, to)).status, 'unsubscribed')
  })
})

describe('what the check says', () => {
  test('is true of an address that someone else stopped, or that was erased', async () => {
    const erased = { accountId, email: 'erased@example.com' }
    await app.call('POST', '/api/v1/contacts/erase', { body: { email: erased.email, confirm: true } })
    const byHand = { accountId, email: 'byhand@example.com' }
    await addContact(db, accountId, byHand.email)
    await app.call('POST', '/api/v1/suppressions', { body: { email: byHand.email } })
    for (const token of [erased, byHand]) {
      assert.equal((await get(pathOf(token))).body.status, 'unsubscribed')
      assert.equal((await post(pathOf(token))).body.status, 'unsubscribed')
      await resubscribe(db, token, at)
      assert.equal((await get(pathOf(token))).body.status, 'unsubscribed')
    }
  })

  test('a person who left can come back after their contact was made again', async () => {
    const token = { accountId, email: 'again@example.com' }
    await unsubscribe(db, token, at)
    await app.call('POST', '/v3/contacts', { body: { email: token.email } })
    assert.equal((await look(db, accountId, token.email)).status, 'unsubscribed')
    await resubscribe(db, token, at)
    const back = await look(db, accountId, token.email)
    assert.deepEqual([back.status, back.suppression], ['subscribed', null])
  })
})

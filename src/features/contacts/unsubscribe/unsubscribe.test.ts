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
const post = (path: string, options = {}) => app.call('POST', path, { key: null, ...options })

async function send(to: string): Promise<string> {
  const message = { from: 'shop@example.com', to, subject: 'Hello', text: 'Hello' }
  const { body, text } = await app.call('POST', '/api/v1/transactional/send', { body: message })
  const id = readId('msg', body.id ?? '')
  assert.ok(id, text)
  return id
}

const eventsOf = (messageId: string) => unsubscribeEventsOf(db, accountId, messageId)

describe('from all mail', () => {
  const email = 'ada@example.com'

  test('checking changes nothing, confirming acts, again and again', async () => {
    await addContact(db, accountId, email)
    const messageId = await send(email)
    const path = pathOf({ accountId, email, messageId })
    const before = await look(db, accountId, email)
    const checked = await get(path)
    assert.deepEqual(
      [checked.status, checked.body],
      [200, { valid: true, email, status: 'subscribed', scope: 'all' }],
    )
    assert.equal((await app.call('HEAD', path, { key: null })).status, 200)
    assert.deepEqual(await look(db, accountId, email), before)
    for (const options of [{}, {}, { body: { any: 1 } }]) {
      const { status, body } = await post(path, options)
      assert.deepEqual([status, body], [200, { email, status: 'unsubscribed' }])
    }
    assert.deepEqual(await look(db, accountId, email), {
      status: 'unsubscribed',
      suppression: 'unsubscribe unsubscribe',
      message_id: messageId,
      lists: [],
      left_lists: [],
      history: ['STATUS "subscribed" "unsubscribed" unsubscribe'],
    })
    assert.equal((await get(path)).body.status, 'unsubscribed')
    assert.deepEqual(await eventsOf(messageId), [{ scope: 'all' }])
  })

  test('a send to the person is then refused', async () => {
    const message = { from: 'shop@example.com', to: email, subject: 'Hello', text: 'Hello' }
    const { body } = await app.call('POST', '/api/v1/transactional/send', { body: message })
    assert.equal(body.error.code, 'recipient_suppressed')
  })

  test('taking it back lifts it all; whoever leaves again is told of again, once', async () => {
    const token = { accountId, email, messageId: (await look(db, accountId, email)).message_id ?? '' }
    await resubscribe(db, token, at)
    await resubscribe(db, token, at)
    const back = await look(db, accountId, email)
    assert.deepEqual([back.status, back.suppression, back.history.length], ['subscribed', null, 2])
    await unsubscribe(db, token, at)
    await unsubscribe(db, token, at)
    assert.equal((await eventsOf(token.messageId)).length, 2)
  })

  test('works for an address without a contact, and at the same time from many sides', async () => {
    const token = { accountId, email: 'gone@example.com', messageId: await send('gone@example.com') }
    await Promise.all(Array.from({ length: 8 }, () => post(pathOf(token))))
    assert.equal((await look(db, accountId, token.email)).suppression, 'unsubscribe unsubscribe')
    assert.equal((await get(pathOf(token))).body.status, 'unsubscribed')
    assert.equal((await eventsOf(token.messageId)).length, 1)
    await resubscribe(db, token, at)
    assert.equal((await look(db, accountId, token.email)).suppression, null)
  })

  test('nobody takes back a bounce, a complaint or what the customer decided', async () => {
    for (const reason of ['hard_bounce', 'complaint', 'manual'] as const) {
      const token = { accountId, email: `${reason}@example.com` }
      await addContact(db, accountId, token.email, reason === 'manual' ? 'unsubscribed' : 'subscribed')
      await suppress(db, token, { reason, source: 'test', messageId: null, at })
      await unsubscribe(db, token, at)
      await resubscribe(db, token, at)
      const after = await look(db, accountId, token.email)
      assert.equal(after.suppression, `${reason} test`)
      assert.equal(after.status, reason === 'manual' ? 'unsubscribed' : 'subscribed')
    }
  })
})

describe('from one list', () => {
  const email = 'bob@example.com'

  test('only that list is left, and joined again', async () => {
    const contact = await addContact(db, accountId, email)
    const [news, offers] = [
      await addList(db, accountId, 'News', [contact]),
      await addList(db, accountId, 'Offers', [contact]),
    ]
    const token = { accountId, email, listId: news, messageId: await send(email) }
    const about = { valid: true, email, scope: 'list', listId: Number(news) }
    assert.deepEqual((await get(pathOf(token))).body, { ...about, status: 'subscribed' })
    await post(pathOf(token))
    const { status, body } = await post(pathOf(token))
    assert.deepEqual([status, body], [200, { email, status: 'unsubscribed' }])
    const left = await look(db, accountId, email)
    assert.deepEqual(left, {
      status: 'subscribed',
      suppression: null,
      message_id: null,
      lists: [offers],
      left_lists: [news],
      history: [`LIST ${news} null unsubscribe`],
    })
    assert.deepEqual((await get(pathOf(token))).body, { ...about, status: 'unsubscribed' })
    assert.deepEqual(await eventsOf(token.messageId), [{ scope: 'list', list_id: Number(news) }])
    await resubscribe(db, token, at)
    await resubscribe(db, token, at)
    const back = await look(db, accountId, email)
    assert.deepEqual([back.lists, back.left_lists], [[news, offers].sort(), []])
    assert.deepEqual(back.history.slice(1), [`LIST null ${news} unsubscribe`])
  })

  test('a list that is gone, or a person who is, leaves nothing to do', async () => {
    for (const token of [
      { accountId, email, listId: '999999999' },
      { accountId, email: 'never@example.com', listId: '1' },
    ]) {
      assert.equal((await get(pathOf(token))).body.status, 'unsubscribed')
      assert.equal((await post(pathOf(token))).status, 200)
      await resubscribe(db, token, at)
    }
    assert.equal((await look(db, accountId, 'never@example.com')).suppression, null)
  })
})

describe('preferences', () => {
  const none = { shown: [], kept: [], nothing: false, wasNothing: false }

  test('apply to the lists that were shown, and no others', async () => {
    const email = 'eve@example.com'
    const contact = await addContact(db, accountId, email)
    const lists: string[] = []
    for (const name of ['A', 'B', 'C']) lists.push(await addList(db, accountId, name, [contact]))
    const [a = '', b = '', c = ''] = lists
    const token = { accountId, email }
    const save = (choice: object) => savePreferences(db, token, { ...none, ...choice }, at)
    await save({ shown: [a, b], kept: [b, '1', 'x'] })
    let found = await look(db, accountId, email)
    assert.deepEqual([found.lists, found.left_lists, found.status], [[b, c].sort(), [a], 'subscribed'])
    await save({ shown: lists, kept: lists, nothing: true })
    found = await look(db, accountId, email)
    assert.deepEqual([found.lists, found.status], [lists.toSorted(), 'unsubscribed'])
    // A page from before does not bring anybody back.
    await save({ shown: lists, kept: lists })
    assert.equal((await look(db, accountId, email)).suppression, 'unsubscribe unsubscribe')
    await save({ shown: lists, kept: lists, wasNothing: true })
    found = await look(db, accountId, email)
    assert.deepEqual([found.status, found.suppression], ['subscribed', null])
    assert.deepEqual(found.history, [
      `LIST ${a} null preferences`,
      `LIST null ${a} preferences`,
      'STATUS "subscribed" "unsubscribed" preferences',
      'STATUS "unsubscribed" "subscribed" preferences',
    ])
  })

  test('that change a list change the contact', async () => {
    const email = 'modified@example.com'
    const list = await addList(db, accountId, 'M', [await addContact(db, accountId, email)])
    const save = (kept: string[], saved: Date) =>
      savePreferences(db, { accountId, email }, { ...none, shown: [list], kept }, saved)
    const modified = async () => (await app.call('GET', `/v3/contacts/${email}`)).body.modifiedAt
    for (const [kept, day] of [
      [[], '2027-01-01T00:00:00.000Z'],
      [[list], '2027-01-02T00:00:00.000Z'],
    ] as const) {
      await save([...kept], new Date(day))
      assert.equal(await modified(), day)
    }
    await save([list], new Date('2027-01-03T00:00:00.000Z'))
    assert.equal(await modified(), '2027-01-02T00:00:00.000Z')
  })
})

describe('preferences', () => {
  test('the event of the message names the lists that were left, whichever list it came by', async () => {
    const email = 'eva@example.com'
    const contact = await addContact(db, accountId, email)
    const lists: string[] = []
    for (const name of ['D', 'E', 'F']) lists.push(await addList(db, accountId, name, [contact]))
    const [d = '', e = '', f = ''] = lists
    const token = { accountId, email, messageId: await send(email), listId: f }
    const save = (kept: string[], userAgent?: string) =>
      savePreferences(db, token, { shown: lists, kept, nothing: false, wasNothing: false, userAgent }, at)
    await save([e, f], 'Mozilla/5.0')
    await save(lists)
    await save([f])
    const [first, second] = await eventsOf(token.messageId)
    assert.deepEqual(first, { scope: 'list', list_id: Number(d), user_agent: 'Mozilla/5.0' })
    const both = [Number(d), Number(e)]
    assert.deepEqual(second, { scope: 'list', list_id: Number(d), list_ids: both })
  })
})

test('a form is taken like any other body, whatever is in it', async () => {
  const boundary = 'x-Y-z'
  const field = `--${boundary}\r\ncontent-disposition: form-data; name="any"\r\n\r\n1\r\n--${boundary}--\r\n`
  const forms: [string, string][] = [
    ['application/x-www-form-urlencoded', 'List-Unsubscribe=One-Click&any=1'],
    ['application/x-www-form-urlencoded; charset=UTF-8', ''],
    [`multipart/form-data; boundary="${boundary}"`, field],
    ['multipart/form-data; boundary=none', ''],
  ]
  for (const [i, [type, raw]] of forms.entries()) {
    const email = `form${i}@example.com`
    const reply = await post(pathOf({ accountId, email }), { raw, headers: { 'content-type': type } })
    assert.deepEqual([reply.status, reply.body], [200, { email, status: 'unsubscribed' }], type)
    assert.equal((await look(db, accountId, email)).suppression, 'unsubscribe unsubscribe')
  }
})

describe('other accounts', () => {
  test('are not touched, whatever the token names', async () => {
    const other = (await app.makeAccount()).accountId
    const email = 'both@example.com'
    const [mine, theirs] = [await addContact(db, accountId, email), await addContact(db, other, email)]
    const [list, theirList] = [
      await addList(db, accountId, 'M', [mine]),
      await addList(db, other, 'T', [theirs]),
    ]
    const messageId = await send(email)
    const before = await look(db, accountId, email)
    const tokens = [
      { accountId: other, email, listId: list, messageId },
      { accountId: other, email, messageId },
    ]
    for (const token of tokens) {
      await post(pathOf(token))
      await savePreferences(db, token, { shown: [list], kept: [], nothing: true, wasNothing: false }, at)
    }
    assert.deepEqual(await look(db, accountId, email), before)
    assert.deepEqual(await eventsOf(messageId), [])
    const left = await look(db, other, email)
    assert.deepEqual([left.status, left.lists, left.left_lists], ['unsubscribed', [theirList], []])
  })

  test('a bad token says nothing', async () => {
    const good = pathOf({ accountId, email: 'ada@example.com' })
    const unknown = pathOf({ accountId: '999999', email: 'ada@example.com' })
    for (const path of [
      `${good}x`,
      good.slice(0, -1),
      unknown,
      '/v3/unsubscribe/x',
      '/v3/unsubscribe/a%00b',
    ]) {
      for (const reply of [await get(path), await post(path)]) {
        assert.deepEqual([reply.status, reply.body.code], [404, 'document_not_found'], path)
        assert.equal(reply.body.message, 'This unsubscribe token is not valid.')
      }
    }
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { account, app, contactsOf, imported, makeList } from './fixtures/importer.ts'

type Account = Awaited<ReturnType<typeof account>>
const send = ({ key }: Account, contacts: unknown) =>
  app.call('POST', '/v3/contacts/batch', { key, body: { contacts } })

describe('a batch', () => {
  test('changes contacts by any of their identifiers', async () => {
    const one = await account()
    const list = await makeList(one)
    await imported(one, {
      fileBody: 'EMAIL;EXT_ID;SMS\na@example.com;;\nb@example.com;b;\nc@example.com;;33611111111',
    })
    const [ann] = await contactsOf(one)
    const reply = await send(one, [
      { id: Number(ann.id), attributes: { AGE: 1 } },
      { ext_id: 'b', attributes: { AGE: 2 }, listIds: [list] },
      { sms: '+33611111111', emailBlacklisted: true },
      { email: 'A@example.com', attributes: { FIRSTNAME: 'Ann' } },
    ])
    assert.deepEqual([reply.status, reply.text], [204, ''])
    const all = await contactsOf(one)
    assert.deepEqual(
      all.map(({ attributes, lists, status }) => [attributes, lists, status]),
      [
        [{ AGE: 1, FIRSTNAME: 'Ann' }, [], 'subscribed'],
        [{ AGE: 2 }, [list], 'subscribed'],
        [{}, [], 'unsubscribed'],
      ],
    )
  })

  test('is refused whole, and says for which entry', async () => {
    const [one, other] = [await account(), await account()]
    await imported(one, { fileBody: 'EMAIL\na@example.com' })
    await imported(other, { fileBody: 'EMAIL\nb@example.com' })
    const [foreign] = await contactsOf(other)
    const good = { email: 'a@example.com', attributes: { AGE: 1 } }
    const refused: [unknown, number, RegExp][] = [
      [[good, { email: 'b@example.com' }], 404, /contacts\[1\]: Contact does not exist/],
      [[good, { id: Number(foreign.id), attributes: { AGE: 1 } }], 404, /contacts\[1\]/],
      [[good, { email: 'nobody' }], 400, /contacts\[1\]/],
      [[good, { attributes: {} }], 400, /contacts\[1\]: one of/],
      [[good, { email: 'a@example.com', attributes: { AGE: 'x' } }], 400, /contacts\[1\]: AGE/],
      [[], 400, /contacts/],
      [Array(101).fill(good), 400, /contacts/],
      [undefined, 400, /contacts/],
      [[{ id: 1e300 }], 400, /contacts/],
    ]
    for (const [contacts, status, message] of refused) {
      const reply = await send(one, contacts)
      assert.equal(reply.status, status, reply.text)
      assert.match(reply.body.message, message)
    }
    assert.deepEqual((await contactsOf(one))[0].attributes, {})
    assert.deepEqual((await contactsOf(other))[0].attributes, {})
  })

  test('of the same contacts and lists at once goes through, whatever their order', async () => {
    const one = await account()
    const lists = [await makeList(one), await makeList(one)]
    // They wait for each other, the last for all: few enough that a slow machine is done within the fifteen seconds
    // that a statement may take, and enough to meet half way.
    const names = Array.from({ length: 8 }, (_, i) => `at-once${i}@example.com`)
    await imported(one, { jsonBody: names.map((email) => ({ email })), listIds: lists })
    const batch = (i: number) => {
      const [onto, off] = i % 2 ? lists : lists.toReversed()
      const entries = names.map((email) => ({
        email,
        attributes: { AGE: i },
        listIds: [onto],
        unlinkListIds: [off],
      }))
      return send(one, i % 2 ? entries : entries.toReversed())
    }
    const replies = await Promise.all(Array.from({ length: 6 }, (_, i) => batch(i)))
    assert.deepEqual(
      replies.map(({ status }) => status),
      Array(6).fill(204),
    )
    const found = await contactsOf(one)
    assert.equal(new Set(found.map(({ attributes }) => attributes.AGE)).size, 1)
  })
})

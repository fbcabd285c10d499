import assert from 'node:assert/strict'
import { test } from 'node:test'
import { account, app, contactsOf, imported, makeList, query } from './fixtures/importer.ts'

test('a row that is faulty does nothing to the contacts that it names', async () => {
  const shop = await account()
  const list = await makeList(shop)
  for (const name of ['ann', 'bo'])
    await app.call('POST', '/v3/contacts', {
      key: shop.key,
      body: { email: `${name}@example.com`, ext_id: name },
    })
  const rows = [
    { email: 'ann@example.com', ext_id: 'bo' },
    { email: 'cy@example.com', ext_id: 'cy' },
  ]
  const { faulty, created } = await imported(shop, { jsonBody: rows, listIds: [list], emailBlacklist: true })
  assert.deepEqual([faulty, created], [1, 1])
  const found = (await contactsOf(shop)).map(({ email, status, lists }) => [email, status, lists])
  assert.deepEqual(found, [
    ['ann@example.com', 'subscribed', []],
    ['bo@example.com', 'subscribed', []],
    ['cy@example.com', 'unsubscribed', [list]],
  ])
  const suppressed = await query('select email from suppressions where account_id = $1', [shop.accountId])
  assert.deepEqual(suppressed, [{ email: 'cy@example.com' }])
})

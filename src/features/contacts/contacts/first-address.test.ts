import assert from 'node:assert/strict'
import { test } from 'node:test'
import { account, app, imported, query } from '../import/fixtures/importer.ts'

async function setUp() {
  const shop = await account()
  const call = (method: string, path: string, body: object) => app.call(method, path, { key: shop.key, body })
  for (const ext_id of ['e1', 'e2']) await call('POST', '/v3/contacts', { ext_id, emailBlacklisted: true })
  const put = (who: string, body: object) => call('PUT', `/v3/contacts/${who}?identifierType=ext_id`, body)
  const isSent = async (to: string) => {
    const body = { from: 'shop@example.com', to, subject: 'Hello', text: 'Hi' }
    return (await call('POST', '/api/v1/transactional/send', body)).status === 202
  }
  return { shop, put, isSent }
}

test('a contact that was blacklisted before it had an address is not written to at its first', async () => {
  const { shop, put, isSent } = await setUp()
  assert.equal((await put('e1', { attributes: { EMAIL: 'ann@example.com' } })).status, 204)
  const { updated } = await imported(shop, { jsonBody: [{ ext_id: 'e2', email: 'bo@example.com' }] })
  assert.equal(updated, 1)
  assert.deepEqual([await isSent('ann@example.com'), await isSent('bo@example.com')], [false, false])
  await put('e1', { emailBlacklisted: false })
  assert.equal(await isSent('ann@example.com'), true)
})

test('one that gets it as it is allowed again is; one whose origin was stopped still gets receipts', async () => {
  const { shop, put, isSent } = await setUp()
  await put('e1', { emailBlacklisted: false, attributes: { EMAIL: 'ann@example.com' } })
  await query(
    `insert into contact_history (account_id, contact_id, id, attribute, old_value, new_value, changed_at, source)
     select account_id, id, 'ffffffff-ffff-7fff-bfff-ffffffffffff', 'STATUS', '"subscribed"', '"unsubscribed"', now(),
            'origin stopped'
       from contacts where account_id = $1 and ext_id = 'e2'`,
    [shop.accountId],
  )
  await put('e2', { attributes: { EMAIL: 'bo@example.com' } })
  assert.deepEqual([await isSent('ann@example.com'), await isSent('bo@example.com')], [true, true])
})

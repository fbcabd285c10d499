import assert from 'node:assert/strict'
import { test } from 'node:test'
import { account, app, needs, post, query, soon } from './fixtures/importer.ts'
import { workImports } from './work-imports.ts'

test('a contact that gets an address whose person left is unsubscribed; others are not touched', async () => {
  const shop = await account()
  const create = (body: object) => app.call('POST', '/v3/contacts', { key: shop.key, body })
  for (const ext_id of ['e1', 'e2']) assert.equal((await create({ ext_id })).status, 201)
  await create({ email: 'back@example.com', ext_id: 'e3' })
  await query(
    `insert into suppressions (account_id, email, reason, source, created_at, id)
     select $1, e || '@example.com', 'unsubscribe', 'unsubscribe', now(), gen_random_uuid()
       from unnest(array['left', 'back']) e`,
    [shop.accountId],
  )
  const rows = [
    { ext_id: 'e1', email: 'left@example.com' },
    { ext_id: 'e2', email: 'new@example.com' },
    { ext_id: 'e3', email: 'back@example.com', attributes: { FIRSTNAME: 'Cleo' } },
  ]
  assert.equal((await post(shop, { jsonBody: rows })).status, 202)
  await workImports(needs, soon())
  const found = await query('select ext_id, status from contacts where account_id = $1 order by 1', [
    shop.accountId,
  ])
  const statuses = found.map(({ ext_id, status }) => `${ext_id} ${status}`)
  assert.deepEqual(statuses, ['e1 unsubscribed', 'e2 subscribed', 'e3 subscribed'])
})

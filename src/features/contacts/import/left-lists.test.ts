import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../../test/until.ts'
import { sql } from '../../../kernel/sql.ts'
import { savePreferences } from '../unsubscribe/unsubscribe.ts'
import { account, app, contactsOf, imported, makeList, query } from './fixtures/importer.ts'

const { db } = app.pools

async function leaver(name: string) {
  const shop = await account()
  const [news, offers] = [await makeList(shop), await makeList(shop)]
  const email = `${name}@example.com`
  const { key, accountId } = shop
  await app.call('POST', '/v3/contacts', { key, body: { email, listIds: [news, offers] } })
  const choice = {
    shown: [news, offers].map(String),
    kept: [String(offers)],
    nothing: false,
    wasNothing: false,
  }
  await savePreferences(db, { accountId, email }, choice, new Date())
  return { shop, key, email, news, offers }
}

const listsOf = async (shop: Awaited<ReturnType<typeof account>>) =>
  (await contactsOf(shop)).map(({ email, lists }) => [email, lists])

test('an import does not bring back onto a list who left it, also when their contact was deleted since', async () => {
  const { shop, key, email, news, offers } = await leaver('ann')
  assert.equal((await app.call('DELETE', `/v3/contacts/${email}`, { key })).status, 204)
  await imported(shop, { jsonBody: [{ email }, { email: 'bo@example.com' }], listIds: [news, offers] })
  assert.deepEqual(await listsOf(shop), [
    [email, [offers]],
    ['bo@example.com', [news, offers]],
  ])
  assert.deepEqual(await query('select 1 from kept_leavings where account_id = $1', [shop.accountId]), [])
  // To be put on it by name is to be on it again, as for others.
  await app.call('PUT', `/v3/contacts/${email}`, { key, body: { listIds: [news] } })
  assert.deepEqual((await listsOf(shop))[0], [email, [news, offers]])
})

test('so does the contact that gets the address later', async () => {
  const { shop, key, email, news } = await leaver('cy')
  await app.call('DELETE', `/v3/contacts/${email}`, { key })
  await app.call('POST', '/v3/contacts', { key, body: { ext_id: 'cy', attributes: {} } })
  await app.call('PUT', '/v3/contacts/cy?identifierType=ext_id', {
    key,
    body: { attributes: { EMAIL: email } },
  })
  await imported(shop, { jsonBody: [{ email }], listIds: [news] })
  assert.deepEqual(await listsOf(shop), [[email, []]])
})

test('what is kept of a deleted contact is part of what the person may see, and goes with an erasure', async () => {
  const { shop, key, email, news } = await leaver('dee')
  await app.call('DELETE', `/v3/contacts/${email}`, { key })
  const told = await app.call('GET', `/api/v1/contacts/export?email=${email}`, { key })
  assert.deepEqual(
    told.body.left_lists.map(({ id }: { id: number }) => id),
    [news],
    told.text,
  )
  await app.call('POST', '/api/v1/contacts/erase', { key, body: { email, confirm: true } })
  assert.deepEqual(await query('select 1 from kept_leavings where account_id = $1', [shop.accountId]), [])
})

test('a contact can be deleted while a list that its person left is', async () => {
  const { shop, key, email, news } = await leaver('eve')
  const isWaiting =
    'select 1 from pg_stat_activity where datname = current_database() and wait_event_type = $1'
  const answer = await db.transaction(async (tx) => {
    await tx.run(sql`delete from lists where account_id = ${shop.accountId} and id = ${news}`)
    const deleting = app.call('DELETE', `/v3/contacts/${email}`, { key })
    await until(async () => (await query(isWaiting, ['Lock'])).length > 0, 'the other to wait')
    return { deleting }
  })
  assert.equal((await answer.deleting).status, 204)
})

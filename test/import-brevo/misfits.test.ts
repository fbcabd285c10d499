// A contact with a value that does not fit the type of its attribute here.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unsubscribe } from '../../src/features/contacts/unsubscribe/unsubscribe.ts'
import { makeApp } from '../app.ts'
import { makePlace, run } from '../processes/posthorn.ts'
import { makeProvider, openFront, people } from './provider.ts'

const provider = await makeProvider()
const secrets = { POSTHORN_SECRET_KEY: '11'.repeat(32) }
const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '1000', ...secrets } })
const front = await openFront(provider.app.url)
const place = await makePlace({ DATABASE_URL: app.databaseUrl, ...secrets })
const args = ['import-brevo', '--key', provider.key, '--from', `${front.url}/v3`, '--account', app.accountId]

const blacklisted = { emailBlacklisted: true, smsBlacklisted: true }
const lacks = (name: string) =>
  `contacts ${name}@example.com is copied without a value: SHOE must be a number`

/** Two such contacts on both lists: one may not be written to, the other has left the second list. */
async function makeOdd(): Promise<string[]> {
  await app.call('POST', '/v3/contacts/attributes/normal/SHOE', { body: { type: 'float' } })
  await provider.app.call('POST', '/v3/contacts/attributes/normal/SHOE', { body: { type: 'text' } })
  const { lists } = (await provider.app.call('GET', '/v3/contacts/lists?sort=asc')).body
  const listIds = lists.map(({ id }: { id: number }) => id)
  for (const [name, more] of Object.entries({ odd: blacklisted, odder: {} })) {
    const attributes = { SHOE: 'large', CITY: 'There' }
    const body = { email: `${name}@example.com`, attributes, listIds, ...more }
    assert.equal((await provider.app.call('POST', '/v3/contacts', { body })).status, 201)
  }
  const left = { accountId: provider.accountId, email: 'odder@example.com', listId: String(listIds[1]) }
  await unsubscribe(provider.app.pools.db, left, new Date())
  return listIds.map(String)
}

test('is copied without it, with lists and standing, and the end says how many there are', async () => {
  const [one = '', other = ''] = await makeOdd()
  const { code, out, err } = await run(place, ...args, '--json')
  assert.equal(code, 0, err)
  const { counts, ids, incomplete } = JSON.parse(out)
  assert.deepEqual(counts.contacts, { found: people + 2, copied: people + 2, skipped: 0 })
  assert.deepEqual([incomplete.contacts, incomplete.examples.sort()], [2, [lacks('odd'), lacks('odder')]])
  assert.ok(err.includes(`${lacks('odd')}\n`), err)
  const read = async (name: string) => (await app.call('GET', `/v3/contacts/${name}@example.com`)).body
  const [odd, odder] = [await read('odd'), await read('odder')]
  assert.deepEqual(
    [odd.emailBlacklisted, odd.smsBlacklisted, odd.attributes],
    [true, true, { CITY: 'There' }],
  )
  assert.deepEqual(odd.listIds.sort(), [ids.lists[one], ids.lists[other]].sort())
  assert.deepEqual([odder.emailBlacklisted, odder.listUnsubscribed], [false, [ids.lists[other]]])
  const { body } = await app.call('GET', '/api/v1/suppressions?email=odd@example.com')
  assert.equal(body.data.length, 1)
  const again = await run(place, ...args)
  assert.match(again.out, /^2 of the contacts copied lack a value that does not fit here$/m)
})

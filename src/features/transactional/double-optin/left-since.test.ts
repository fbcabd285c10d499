import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { newUuid } from '../../../kernel/id.ts'
import { addList } from '../../contacts/unsubscribe/fixtures/people.ts'
import { resubscribe, unsubscribe } from '../../contacts/unsubscribe/unsubscribe.ts'
import { insertOptin } from './queries.ts'
import { optinKeysOf, writeOptinToken } from './tokens.ts'

const secret = Buffer.alloc(32, 1)
const app = await makeApp({ env: { POSTHORN_SECRET_KEY: secret.toString('hex') } })
const { accountId } = app
const { db } = app.pools

/** The path of the link that confirms these lists. */
async function asked(email: string, lists: string[]) {
  const { id: key_id } = await app.makeKey()
  const token = { accountId, id: newUuid() }
  await insertOptin(db, {
    ...token,
    email,
    attributes: {},
    include_list_ids: lists,
    exclude_list_ids: [],
    redirect_url: 'https://shop.example/thanks',
    key_id,
    created_at: new Date(),
  })
  return `/c/${writeOptinToken(optinKeysOf([secret]), token)}`
}

test('who has left the lists that they confirmed is not told that they are subscribed', async () => {
  const email = 'ann@example.com'
  const [news, offers] = [await addList(db, accountId, 'News'), await addList(db, accountId, 'Offers')]
  const path = await asked(email, [news, offers])
  const statuses = async () =>
    Promise.all(['GET', 'POST'].map(async (method) => (await app.call(method, path, { key: null })).status))
  await app.call('POST', path, { key: null })
  await unsubscribe(db, { accountId, email, listId: news }, new Date())
  assert.deepEqual(await statuses(), [200, 303])
  await unsubscribe(db, { accountId, email, listId: offers }, new Date())
  assert.deepEqual(await statuses(), [410, 410])
  const { body } = await app.call('GET', `/v3/contacts/${email}`)
  assert.deepEqual([body.listIds, body.emailBlacklisted], [[], false])
  await resubscribe(db, { accountId, email, listId: news }, new Date())
  assert.deepEqual(await statuses(), [200, 303])
})

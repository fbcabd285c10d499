import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../kernel/sql.ts'
import { addContact, app, base, call, create, db, shop, shown } from '../fixtures/campaigns.ts'
import { jobsOf } from './fixtures/campaigns.ts'
import { stepsWith } from './fixtures/steps.ts'

const run = jobsOf(db)
const { claim, settleClaimed } = stepsWith(app)

/** Two campaigns, each to four people, of a key that may send to five a day. */
async function capped() {
  const { accountId, listId, key: full } = await shop(['anna', 'bob', 'cleo', 'dora'])
  const { key } = await app.makeKey({ dailyCap: 5 }, accountId)
  const recipients = { listIds: [listId] }
  const ids = [await create(key, { recipients }), await create(key, { recipients })] as const
  const post = (id: number, path: string) => call(key, 'POST', `${base}/${id}/${path}`, { confirm: true })
  const used = async () => (await call(key, 'GET', '/api/v1/usage')).body.key.used_today
  return { accountId, key, full, listId, ids, post, used }
}

test('of two campaigns started in one moment, the one that there is no room for is refused at once', async () => {
  const { key, ids, post, used } = await capped()
  const replies = await Promise.all(ids.map((id) => post(id, 'sendNow')))
  assert.deepEqual(replies.map(({ status }) => status).sort(), [204, 429])
  const refused = ids[replies[0]?.status === 429 ? 0 : 1]
  assert.equal((await shown(key, refused)).status, 'draft')
  assert.equal(await used(), 4)
  await run('freeze', 'follow', 'give-back')
  assert.equal(await used(), 4)
  const own = await call(key, 'POST', '/api/v1/campaigns/send', { campaign_id: refused, confirm: true })
  assert.deepEqual([own.status, own.body.error.code], [429, 'daily_cap_reached'])
})

test('so is one that there is no room for in the month', async () => {
  const { accountId, full, ids } = await capped()
  await db.run(sql`
    -- all accounts: the account itself
    update accounts set monthly_quota = 5 where id = ${accountId}`)
  const send = (id: number) => call(full, 'POST', `${base}/${id}/sendNow`, { confirm: true })
  const statuses = (await Promise.all(ids.map(send))).map(({ status }) => status)
  assert.deepEqual(statuses.sort(), [204, 429])
})

test('what a campaign is counted with at its start is put right when its recipients are written down', async () => {
  const { key, listId, ids, post, used } = await capped()
  assert.equal((await post(ids[0], 'sendNow')).status, 204)
  await call(key, 'PUT', '/v3/contacts/bob@example.com', { emailBlacklisted: true })
  await call(key, 'POST', `/v3/contacts/lists/${listId}/contacts/remove`, { emails: ['cleo@example.com'] })
  await run('freeze')
  assert.equal(await used(), 2)
  await run('give-back', 'freeze', 'give-back')
  assert.equal(await used(), 2)
})

for (const [what, paths] of [
  ['cancelled', ['cancel']],
  ['paused', ['pause']],
  ['cancelled and deleted', ['cancel', '']],
] as const)
  test(`a campaign that is ${what} before its recipients are written down gives back, once`, async () => {
    const { key, ids, post, used } = await capped()
    const [id, other] = ids
    assert.equal((await post(id, 'sendNow')).status, 204)
    for (const path of paths) {
      const reply = path === '' ? await call(key, 'DELETE', `${base}/${id}`) : await post(id, path)
      assert.equal(reply.status, 204, reply.text)
    }
    await Promise.all([run('give-back'), run('give-back')])
    await run('freeze', 'follow', 'give-back')
    assert.equal(await used(), 0)
    assert.equal((await post(other, 'sendNow')).status, 204)
  })

test('a campaign resumed at once is not in its own way; where another took its room it is refused', async () => {
  const { accountId, key, listId, ids, post, used } = await capped()
  const [id, other] = ids
  for (const path of ['sendNow', 'pause', 'resume', 'pause'])
    assert.equal((await post(id, path)).status, 204, path)
  assert.equal(await used(), 4)
  await addContact(key, listId, 'emil')
  assert.equal((await post(id, 'resume')).status, 204)
  assert.equal(await used(), 5)
  assert.equal((await post(id, 'pause')).status, 204)
  await run('give-back')
  assert.equal((await post(other, 'sendNow')).status, 204)
  assert.equal((await post(id, 'resume')).status, 429)
  await run('freeze', 'follow', 'give-back')
  assert.equal(await used(), 5)
  assert.equal(await db.run(sql`select 1 from campaign_reservations where account_id = ${accountId}`), 0)
})

test('a cancelled campaign cannot be deleted before what did not leave is given back', async () => {
  const { key, ids, post, used } = await capped()
  const [id] = ids
  const remove = () => call(key, 'DELETE', `${base}/${id}`)
  assert.equal((await post(id, 'sendNow')).status, 204)
  await run('freeze', 'feed')
  await claim(String(id), 4)
  assert.equal((await post(id, 'cancel')).status, 204)
  await run('follow')
  // The worker that has them finds the campaign cancelled, and puts them aside.
  await settleClaimed(String(id), 'cancelled')
  assert.deepEqual([await used(), (await remove()).status], [4, 400])
  await run('follow')
  assert.deepEqual([await used(), (await remove()).status], [0, 204])
})

test('who is counted at the start is written to, whatever the clock said that put them on the list', async () => {
  const { listId, key, ids, post } = await capped()
  // By a machine whose clock is ahead, or before the clock of this one was set back.
  await db.run(sql`
    -- all accounts: the list itself
    update list_members set added_at = now() + interval '90 seconds' where list_id = ${listId}`)
  assert.equal((await post(ids[0], 'sendNow')).status, 204)
  await run('freeze')
  const { progress } = await shown(key, ids[0])
  assert.deepEqual([progress.total, progress.queued, progress.cancelled], [4, 4, 0])
})

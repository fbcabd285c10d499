import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../kernel/log.ts'
import { sql } from '../../kernel/sql.ts'
import { base, call, campaign, create, db, shop } from './fixtures/campaigns.ts'
import { freezeCampaigns } from './sending/freeze-campaigns.ts'

test('a campaign is addressed to lists and segments that the account has', async () => {
  const [{ key, listId }, theirs] = [await shop(), await shop()]
  const id = await create(key)
  const unknown: [object, RegExp][] = [
    [{ listIds: [listId, 999_999] }, /no list 999999$/],
    [{ listIds: [listId], exclusionSegmentIds: [999_998] }, /no segment 999998$/],
    [{ listIds: [theirs.listId] }, /no list/],
    [{ listIds: [999_999], exclusionListIds: [999_999] }, /^There is no list 999999$/],
  ]
  for (const [recipients, why] of unknown) {
    const made = await call(key, 'POST', base, { ...campaign, recipients })
    const changed = await call(key, 'PUT', `${base}/${id}`, { recipients })
    for (const { status, body } of [made, changed]) {
      assert.deepEqual(
        [status, body.code, body.param ?? 'recipients'],
        [400, 'invalid_parameter', 'recipients'],
      )
      assert.match(body.message, why)
    }
  }
})

test('a campaign is not sent when one of its lists was deleted since; the rest of it can be changed', async () => {
  const { key, listId } = await shop()
  const { body: gone } = await call(key, 'POST', '/v3/contacts/lists', { name: 'Gone' })
  const id = await create(key, { recipients: { listIds: [listId, gone.id] } })
  assert.equal((await call(key, 'DELETE', `/v3/contacts/lists/${gone.id}`)).status, 204)
  assert.equal((await call(key, 'PUT', `${base}/${id}`, { subject: 'Later' })).status, 204)
  const refused = await call(key, 'POST', `${base}/${id}/sendNow`, { confirm: true })
  assert.deepEqual([refused.status, refused.body.message], [400, `There is no list ${gone.id}`])
})

test('a campaign is not sent when a segment that it takes or leaves out has lost its attribute', async () => {
  const { accountId, key, listId } = await shop()
  await call(key, 'POST', '/v3/contacts/attributes/normal/OPTOUT', { type: 'boolean' })
  const asked = { name: 'Out', attribute: 'OPTOUT', operator: 'eq', value: true }
  const { body: segment } = await call(key, 'POST', '/v3/segments', asked)
  const send = (id: number) => call(key, 'POST', `${base}/${id}/sendNow`, { confirm: true })
  const of = (recipients: object) => create(key, { recipients })
  const excluding = { listIds: [listId], exclusionSegmentIds: [segment.id] }
  const [started, without, within] = [
    await of(excluding),
    await of(excluding),
    await of({ segmentIds: [segment.id] }),
  ]
  assert.equal((await send(started)).status, 204)
  await db.run(sql`delete from contact_attributes where account_id = ${accountId} and name = 'OPTOUT'`)
  for (const id of [without, within]) {
    const { status, body } = await send(id)
    const why = `There is no attribute OPTOUT, which segment ${segment.id} asks about`
    assert.deepEqual([status, body.message], [400, why])
  }
  await freezeCampaigns({ db, log: silentLog, stopping: new AbortController().signal }, new Date())
  const { body: stopped } = await call(key, 'GET', `${base}/${started}`)
  assert.deepEqual([stopped.status, stopped.progress.total], ['suspended', 0])
})

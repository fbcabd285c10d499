import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { maybe, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { makeCampaign, sendCampaignTo } from '../fixtures/campaigns.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools

const convert = (body: object, key = app.key) =>
  app.call('POST', '/api/v1/campaigns/conversion', { key, body })
const report = (body: object, key = app.key) => app.call('POST', '/v3/conversions', { key, body })
const revenue = async (key: string, query = '') =>
  (await app.call('GET', `/api/v1/stats/revenue${query}`, { key })).body.data
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)
const when = (days: number) => daysAgo(days).toISOString()

describe('recording a conversion', () => {
  test('sums are exact and currencies are kept apart', async () => {
    const { accountId, key } = await app.makeAccount()
    const campaign = await makeCampaign(db, accountId, 'Spring')
    const mine = { email: 'Ann@Example.com', campaign_id: campaign }
    for (const amount of [0.1, '0.20', 1234567.89])
      assert.equal((await convert({ ...mine, amount }, key)).status, 201)
    await convert({ ...mine, amount: 500, currency: 'jpy' }, key)
    const other = await report({ email: 'bob@example.com', amount: '3.5', currency: '' }, key)
    assert.deepEqual([other.status, Number.isInteger(other.body.id)], [201, true])
    await convert({ email: 'bob@example.com', type: 'signup' }, key)
    assert.deepEqual(await revenue(key), [
      { campaign_id: campaign, campaign_name: 'Spring', amount: 1234568.19, count: 3, currency: 'EUR' },
      { campaign_id: campaign, campaign_name: 'Spring', amount: 500, count: 1, currency: 'JPY' },
      { campaign_id: null, campaign_name: null, amount: 3.5, count: 1, currency: 'EUR' },
    ])
    const { body } = await app.call('GET', `/api/v1/campaigns/${campaign}/stats`, { key })
    assert.deepEqual(body.revenue, { amount: 1234568.19, count: 3, currency: 'EUR' })
    assert.equal(body.revenue_by_currency.length, 2)
    assert.deepEqual(body.conversions, { purchase: 4, signup: 0 })
    assert.equal((await convert({ ...mine, type: 'signup' }, key)).status, 201)
    const after = (await app.call('GET', `/api/v1/campaigns/${campaign}/stats`, { key })).body
    assert.deepEqual([after.conversions, after.revenue], [{ purchase: 4, signup: 1 }, body.revenue])
    assert.deepEqual(await revenue(key, `?until=${when(2)}`), [])
    assert.deepEqual(await revenue((await app.makeAccount()).key), [])
  })

  test('an external identifier counts once, also when both calls come at once', async () => {
    const { accountId, key } = await app.makeAccount()
    const campaign = await makeCampaign(db, accountId, 'Spring')
    const order = { email: 'ann@example.com', amount: 10, external_id: 'order 1' }
    const both = await Promise.all([
      convert({ ...order, campaign_id: campaign }, key),
      convert({ ...order, campaign_id: campaign }, key),
    ])
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 201])
    assert.deepEqual(both[0]?.body, both[1]?.body)
    const again = await convert({ ...order, amount: 99 }, key)
    assert.deepEqual([again.status, again.body], [200, both[0]?.body])
    assert.equal((await report(order, key)).status, 200)
    assert.deepEqual(
      (await revenue(key)).map(({ count }: { count: number }) => count),
      [1],
    )
    assert.equal((await convert(order, (await app.makeAccount()).key)).status, 201)
  })

  test('bad input is refused', async () => {
    const codeOf = async (body: object) => {
      const reply = await convert({ email: 'ann@example.com', amount: 1, ...body })
      return `${reply.status} ${reply.body.error?.code} ${reply.body.error?.param}`
    }
    const bad = (param: string) => `422 invalid_parameter ${param}`
    assert.equal(await codeOf({ email: 'ann' }), bad('email'))
    for (const amount of [-1, 'ten', '1e3', '', 1e21, '1,5', 0.001, '99999999999'])
      assert.equal(await codeOf({ amount }), bad('amount'), String(amount))
    assert.equal(await codeOf({ amount: 1.5, currency: 'JPY' }), bad('amount'))
    assert.equal(await codeOf({ currency: 'XYZW' }), bad('currency'))
    assert.equal(await codeOf({ at: when(-1) }), bad('at'))
    assert.equal(await codeOf({ at: '0000-01-01T00:00:00Z' }), bad('at'))
    assert.equal(await codeOf({ campaign_id: 999_999 }), bad('campaign_id'))
    assert.equal(await codeOf({ campaign_id: 2 ** 60 }), bad('campaign_id'))
    assert.equal(await codeOf({ colour: 1 }), '422 unknown_parameter colour')
    const missing = await convert({ email: 'ann@example.com' })
    assert.deepEqual([missing.status, missing.body.error.code], [422, 'missing_parameter'])
    for (const amount of [null, true, false, ' ', '', [], [5], {}, '1e3', undefined]) {
      const reply = await report({ email: 'ann@example.com', amount })
      assert.equal(reply.status, 400, JSON.stringify(amount))
      assert.match(reply.body.message, /^amount /)
    }
    const reported = await report({ email: 'ann', amount: 1 })
    assert.deepEqual([reported.status, reported.body.code], [400, 'invalid_parameter'])
    assert.equal((await report({ email: 'ann@example.com' })).status, 400)
    const theirs = await makeCampaign(db, (await app.makeAccount()).accountId, 'Theirs')
    assert.equal(await codeOf({ campaign_id: theirs }), bad('campaign_id'))
  })
})

describe('the campaign before it', () => {
  const email = 'ann@example.com'
  const purchase = { email, amount: 5 }

  test('is the last one delivered; a click wins over it, a robot’s does not', async () => {
    const { accountId, key } = await app.makeAccount()
    const [one, two, three] = [
      await makeCampaign(db, accountId, 'One'),
      await makeCampaign(db, accountId, 'Two'),
      await makeCampaign(db, accountId, 'Three'),
    ]
    const by = async (body = {}) => {
      const reply = await convert({ ...purchase, ...body }, key)
      return [reply.body.campaign_id, reply.body.attributed_by]
    }
    assert.deepEqual(await by(), [null, null])
    await sendCampaignTo(db, { accountId, campaign: one, email, deliveredAt: daysAgo(20) })
    await sendCampaignTo(db, { accountId, campaign: two, email, deliveredAt: daysAgo(10) })
    await sendCampaignTo(db, { accountId, campaign: three, email: 'x@example.com', deliveredAt: daysAgo(1) })
    assert.deepEqual(await by(), [two, 'delivery'])
    assert.deepEqual(await by({ at: when(15) }), [one, 'delivery'])
    assert.deepEqual(await by({ at: when(25) }), [null, null])
    const robot = { at: daysAgo(3), classification: 'robot' }
    await sendCampaignTo(db, { accountId, campaign: three, email, deliveredAt: daysAgo(40), click: robot })
    assert.deepEqual(await by(), [two, 'delivery'])
    const click = { at: daysAgo(4), classification: 'human' }
    await sendCampaignTo(db, { accountId, campaign: one, email, deliveredAt: daysAgo(40), click })
    assert.deepEqual(await by(), [one, 'click'])
    assert.deepEqual(await by({ campaign_id: three }), [three, 'explicit'])
    const other = { email: 'eve@example.com' }
    const untold = { accountId, ...other, deliveredAt: daysAgo(2), campaign: two }
    await sendCampaignTo(db, { ...untold, status: 'failed', events: [['bounce', { bounce_type: 'soft' }]] })
    assert.deepEqual(await by(other), [null, null])
    await sendCampaignTo(db, { ...untold, status: 'sent' })
    assert.deepEqual(await by(other), [two, 'delivery'], 'not every upstream tells of deliveries')
    assert.deepEqual((await convert(purchase, (await app.makeAccount()).key)).body.campaign_id, null)
    assert.equal((await app.call('DELETE', `/v3/emailCampaigns/${one}`, { key })).status, 204)
    assert.deepEqual(await by(), [two, 'delivery'], 'what was deleted brings nothing any more')
  })

  test('is that of the person, at whichever address they had then', async () => {
    const { accountId, key } = await app.makeAccount()
    const campaign = await makeCampaign(db, accountId, 'One')
    const [old, now] = ['olga@example.com', 'olga-new@example.com']
    const by = async (address: string) => (await convert({ email: address, amount: 5 }, key)).body.campaign_id
    await app.call('POST', '/v3/contacts', { key, body: { email: old } })
    await sendCampaignTo(db, { accountId, campaign, email: old, deliveredAt: daysAgo(2) })
    assert.equal(await by(old), campaign)
    await app.call('PUT', `/v3/contacts/${old}`, { key, body: { attributes: { EMAIL: now } } })
    assert.deepEqual([await by(now), await by(old)], [campaign, campaign])
    await app.call('POST', '/v3/contacts', { key, body: { email: old } })
    assert.deepEqual([await by(now), await by(old)], [campaign, null])
  })
})

test('a person’s conversions are told, and erased without losing the sums', async () => {
  const { key } = await app.makeAccount()
  const email = 'eve@example.com'
  await convert({ email, amount: 7, external_id: `order of ${email}` }, key)
  const exported = await app.call('GET', `/api/v1/contacts/export?email=${email}`, { key })
  assert.deepEqual([exported.body.conversions.length, exported.body.conversions[0].amount], [1, 7])
  const { body } = await app.call('POST', '/api/v1/contacts/erase', { key, body: { email, confirm: true } })
  assert.equal(body.erased.conversions, 1)
  const after = await app.call('GET', `/api/v1/contacts/export?email=${email}`, { key })
  assert.deepEqual(after.body.conversions, [])
  assert.equal((await revenue(key))[0].amount, 7)
})

test('what is reported of a person who was erased counts, and does not keep the address again', async () => {
  const [{ accountId, key }, { key: elsewhere }] = [await app.makeAccount(), await app.makeAccount()]
  const email = 'eve@example.com'
  await app.call('POST', '/api/v1/contacts/erase', { key, body: { email, confirm: true } })
  for (const one of [key, elsewhere]) {
    assert.equal((await convert({ email: 'Eve@Example.com', amount: 7 }, one)).status, 201)
    assert.equal((await report({ email, amount: 5 }, one)).status, 201)
  }
  const held = async (one: string) =>
    (await app.call('GET', `/api/v1/contacts/export?email=${email}`, { key: one })).body.conversions.length
  assert.deepEqual([await held(key), await held(elsewhere)], [0, 2])
  assert.equal((await revenue(key))[0].amount, 12)
  const Kept = row<{ email: string | null }>({ email: maybe(text) })
  const kept = await db.many(Kept, sql`select email from conversions where account_id = ${accountId}`)
  assert.deepEqual(kept, [{ email: null }, { email: null }])
})

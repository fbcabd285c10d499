import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { foldCounts } from '../messages/counts/fold.ts'
import { makeCampaign, sendCampaignTo } from './fixtures/campaigns.ts'

const app = await makeApp({
  deliver: true,
  env: { POSTHORN_RETRY_FACTOR: '0.001', POSTHORN_RATE_LIMIT_FACTOR: '100' },
})
const { db } = app.pools
const domain = 'simulator.posthorn.test'

async function get(path: string, key: string) {
  const { status, body, text } = await app.call('GET', path, { key })
  assert.equal(status, 200, text)
  return body
}

const send = (to: string, key: string, tag?: string) =>
  app.call('POST', '/api/v1/transactional/send', {
    key,
    body: { from: 'shop@example.com', to, subject: 'Hi', html: '<a href="https://example.com/a">a</a>', tag },
  })

const setFilters = (key: string, isOn: boolean) =>
  app.call('PUT', '/api/v1/settings', {
    key,
    body: { exclude_privacy_proxy_opens: isOn, exclude_robot_activity: isOn },
  })

test('what is sent shows in engagement, cohorts and deliverability, filtered as the account has it', async () => {
  const { key } = await app.makeAccount()
  const acts = [
    'success',
    'hard-bounce',
    'soft-bounce',
    'complaint',
    'defer',
    'reject',
    'open',
    'click',
    'robot',
    'proxy',
  ]
  for (const act of acts) await send(`${act}@${domain}`, key, act === 'click' ? 'vip' : undefined)
  const engagement = await until(async () => {
    const body = await get('/api/v1/stats/engagement', key)
    return body.delivered === 7 && body.sent === 10 && body.clicks.total === 1 && body.opens.total === 2
      ? body
      : undefined
  }, 'all to be settled')
  assert.deepEqual(engagement.filtered, { privacy_proxy_opens: 1, robot_opens: 1, robot_clicks: 1 })
  assert.deepEqual(
    [engagement.opens, engagement.clicks],
    [
      { total: 2, unique: 2 },
      { total: 1, unique: 1 },
    ],
  )
  assert.deepEqual([engagement.filters, engagement.window], [{}, { since: null, until: null }])
  const month = new Date().toISOString().slice(0, 7)
  const cohort = { month, sent: 10, delivered: 7, unsubscribed: 0, bounced: 3, complained: 1 }
  assert.deepEqual((await get('/api/v1/stats/cohorts', key)).data, [{ ...cohort, opened: 2, clicked: 1 }])
  const ofDomain = { recipient_domain: domain, sent: 10, delivered: 7, complaints: 1, delivery_rate: 0.7 }
  await foldCounts(db)
  const [{ hard_bounces, soft_bounces, ...others }] = (await get('/api/v1/stats/deliverability', key)).data
  assert.deepEqual([others, hard_bounces + soft_bounces], [ofDomain, 3])
  await setFilters(key, false)
  const whole = await get('/api/v1/stats/engagement', key)
  assert.deepEqual([whole.opens.total, whole.clicks.total, whole.filtered.robot_opens], [4, 2, 0])
  const tagged = await get('/api/v1/stats/engagement?tag=vip', key)
  assert.deepEqual([tagged.filters, tagged.sent, tagged.clicks.unique], [{ tag: 'vip' }, 1, 1])
  const other = await app.makeAccount()
  assert.equal((await get('/api/v1/stats/engagement', other.key)).sent, 0)
  assert.deepEqual((await get('/api/v1/stats/deliverability', other.key)).data, [])
  assert.deepEqual((await get('/api/v1/stats/cohorts', other.key)).data, [])
})

describe('of a campaign', () => {
  test('with rates, what the filters took out, and by list and consent source', async () => {
    const { accountId, key } = await app.makeAccount()
    const campaign = await makeCampaign(db, accountId, 'Spring', 3)
    const of = { accountId, campaign, deliveredAt: new Date('2026-10-31T23:30:00Z') }
    const opened = (classification: string): [string, object] => ['open', { classification }]
    await sendCampaignTo(db, {
      ...of,
      email: 'a@x.example',
      list: 3,
      consentSource: 'shop',
      events: [opened('human'), opened('human')],
    })
    await sendCampaignTo(db, {
      ...of,
      email: 'b@x.example',
      list: 4,
      events: [opened('robot'), ['complaint', {}]],
    })
    await sendCampaignTo(db, {
      ...of,
      email: 'c@y.example',
      list: 4,
      events: [
        ['bounce', { bounce_type: 'hard' }],
        ['unsubscribe', {}],
      ],
    })
    const stats = await get(`/api/v1/campaigns/${campaign}/stats`, key)
    const { rates, revenue, revenue_by_currency: _, ...figures } = stats
    assert.deepEqual(figures, {
      ...{ campaign_id: campaign, status: 'sent', recipients: 3, sent: 3, delivered: 3 },
      ...{ hard_bounces: 1, soft_bounces: 0, complaints: 1, unsubscriptions: 1 },
      conversions: { purchase: 0, signup: 0 },
      opens: { total: 2, unique: 1 },
      clicks: { total: 0, unique: 0 },
      filtered: { privacy_proxy_opens: 0, robot_opens: 1, robot_clicks: 0 },
    })
    assert.deepEqual([rates.delivery, rates.open, rates.click_to_open], [1, 0.3333, 0])
    assert.deepEqual(revenue, { amount: 0, count: 0, currency: null })
    const sentBy = async (query: string) => (await get(`/api/v1/stats/engagement?${query}`, key)).sent
    assert.deepEqual(
      [await sentBy('listId=4'), await sentBy('source=shop'), await sentBy('listId=9')],
      [2, 1, 0],
    )
    const windows = [
      'since=2026-10-31T23:59:00Z',
      'since=2026-11-01',
      'until=2026-10-31',
      'until=2026-10-30T12:00:00Z',
    ]
    assert.deepEqual(await Promise.all(windows.map(sentBy)), [3, 0, 3, 0])
    const { window } = await get('/api/v1/stats/cohorts?since=2026-10-05T10:00:00Z&until=2026-10-31', key)
    assert.deepEqual(window, { since: '2026-10-05T00:00:00.000Z', until: '2026-10-31T23:59:59.999Z' })
    const { key: another } = await app.makeAccount()
    assert.equal((await app.call('GET', `/api/v1/campaigns/${campaign}/stats`, { key: another })).status, 404)
  })

  test('of which nobody tells deliveries: rates are of what was sent and did not bounce', async () => {
    const { accountId, key } = await app.makeAccount()
    const campaign = await makeCampaign(db, accountId, 'Spring', 3)
    const of = { accountId, campaign, deliveredAt: new Date(), status: 'sent' as const }
    await sendCampaignTo(db, { ...of, email: 'a@x.example', events: [['open', { classification: 'human' }]] })
    await sendCampaignTo(db, { ...of, email: 'b@x.example', events: [['unsubscribe', {}]] })
    const bounced: [string, object][] = [['bounce', { bounce_type: 'hard' }]]
    await sendCampaignTo(db, { ...of, email: 'c@y.example', status: 'failed', events: bounced })
    const { rates, delivered } = await get(`/api/v1/campaigns/${campaign}/stats`, key)
    assert.equal(delivered, 0)
    assert.deepEqual(rates, {
      ...{ delivery: null, bounce: 0.3333, open: 0.5, click: 0, click_to_open: 0 },
      ...{ unsubscription: 0.5, complaint: 0 },
    })
    const { globalStats, statsByDomain } = await get(`/v3/emailCampaigns/${campaign}/statistics`, key)
    assert.deepEqual([globalStats.opensRate, globalStats.trackableViewsRate], [50, 50])
    assert.equal(statsByDomain['x.example'].opensRate, 50)
    const { data } = await get('/api/v1/stats/deliverability', key)
    const shown = data.map((one: Record<string, unknown>) => [one.recipient_domain, one.delivery_rate])
    assert.deepEqual(shown, [
      ['x.example', null],
      ['y.example', 0],
    ])
  })

  test('that does not exist, and bad windows and filters are refused', async () => {
    const refused = async (path: string) => {
      const { status, body } = await app.call('GET', `/api/v1/${path}`)
      return `${status} ${body.error.code}`
    }
    assert.equal(await refused('campaigns/999999/stats'), '404 not_found')
    assert.equal(await refused('campaigns/99999999999999999999/stats'), '422 invalid_parameter')
    const bad = [
      'since=soon',
      'since=0000-01-01',
      'until=2026-02-30',
      'since=2026-02-02&until=2026-02-01',
      'listId=x',
    ]
    for (const query of bad)
      assert.equal(await refused(`stats/engagement?${query}`), '422 invalid_parameter', query)
    assert.equal(await refused('stats/cohorts?days=3'), '422 unknown_parameter')
  })
})

test('leaving counts as one unsubscription of the message', async () => {
  const { accountId, key } = await app.makeAccount()
  const campaign = await makeCampaign(db, accountId, 'Spring', 1)
  const at = new Date()
  const left: [string, object] = ['unsubscribe', { scope: 'all' }]
  await sendCampaignTo(db, {
    accountId,
    campaign,
    email: 'a@x.example',
    deliveredAt: at,
    events: [left, left],
  })
  const { unsubscriptions } = await get('/api/v1/stats/engagement', key)
  assert.equal(unsubscriptions, 1)
})

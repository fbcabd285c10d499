import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addEvent, addMessage, app, base, call, create, put, shop, shown } from './fixtures/campaigns.ts'

async function sent() {
  const made = await shop(['anna', 'bob', 'cleo', 'dora'])
  const { accountId, key, listId } = made
  const id = await create(key, { recipients: { listIds: [listId] } })
  await put(id, 'sent')
  const add = (name: string, status: string) => addMessage({ accountId, id, name, status, listId })
  const anna = await add('anna', 'delivered')
  const bob = await add('bob', 'delivered')
  const cleo = await add('cleo', 'failed')
  const dora = await add('dora', 'suppressed')
  const event = (messageId: string, type: string, data?: object) => addEvent(accountId, messageId, type, data)
  for (const one of [anna, bob, cleo]) await event(one, 'sent')
  for (const one of [anna, bob]) await event(one, 'delivery')
  await event(anna, 'open', { classification: 'human', ip: '192.0.2.1', user_agent: 'Mail' })
  await event(anna, 'open', { classification: 'human' })
  await event(anna, 'click', { classification: 'human', url: 'https://shop.example/a' })
  await event(anna, 'click', { classification: 'robot', url: 'https://shop.example/b' })
  await event(anna, 'unsubscribe', { scope: 'all' })
  await event(bob, 'open', { classification: 'privacy_proxy' })
  await event(bob, 'open', { classification: 'robot' })
  await event(bob, 'complaint')
  await event(cleo, 'bounce', { bounce_type: 'hard', reason: 'no such user' })
  return { ...made, id, anna, dora }
}

const figures = {
  sent: 3,
  delivered: 2,
  viewed: 2,
  uniqueViews: 1,
  clickers: 1,
  uniqueClicks: 1,
  hardBounces: 1,
  softBounces: 0,
  complaints: 1,
  unsubscriptions: 1,
  deferred: 0,
  returnBounce: 0,
  trackableViews: 1,
  trackableViewsRate: 50,
  estimatedViews: 1,
  opensRate: 50,
  appleMppOpens: 1,
}

describe('the statistics of a campaign', () => {
  test('count what people did, by the filters of the account', async () => {
    const { key, id, listId } = await sent()
    const { body } = await call(key, 'GET', `${base}/${id}/statistics`)
    assert.deepEqual(body.globalStats, figures)
    assert.deepEqual(body.campaignStats, [{ listId, ...figures }])
    assert.deepEqual(body.linksStats, { 'https://shop.example/a': 1 })
    assert.deepEqual(body.statsByDomain, { 'example.com': figures })
    assert.deepEqual([body.mirrorClick, body.remaining], [0, 0])
    const all = { exclude_robot_activity: false, exclude_privacy_proxy_opens: false }
    await call(key, 'PUT', '/api/v1/settings', all)
    const raw = (await call(key, 'GET', `${base}/${id}/statistics`)).body
    assert.deepEqual(
      [raw.globalStats.viewed, raw.globalStats.uniqueViews, raw.globalStats.clickers],
      [4, 2, 2],
    )
    assert.deepEqual(raw.linksStats, { 'https://shop.example/a': 1, 'https://shop.example/b': 1 })
  })

  test('are filled in a list by the block that is asked for', async () => {
    const { key, listId } = await sent()
    const of = async (query: string) =>
      (await call(key, 'GET', `${base}?${query}`)).body.campaigns[0].statistics
    const plain = await of('')
    assert.deepEqual(plain.campaignStats, [{ listId, ...figures }])
    assert.deepEqual([plain.globalStats.sent, plain.linksStats, plain.statsByDomain], [0, {}, {}])
    assert.deepEqual((await of('statistics=globalStats')).globalStats, figures)
    assert.deepEqual((await of('statistics=linksStats')).linksStats, { 'https://shop.example/a': 1 })
  })

  test('say what became of every recipient', async () => {
    const { accountId, key, id } = await sent()
    await addMessage({ accountId, id, name: 'emil', status: 'held' })
    const { progress, statistics } = await shown(key, id)
    const counts = { queued: 0, held: 1, sent: 0, delivered: 2, failed: 1, suppressed: 1, cancelled: 0 }
    assert.deepEqual(progress, { total: 5, ...counts })
    assert.equal(statistics.remaining, 1)
  })

  test('tell the versions of an A/B test apart', async () => {
    const { accountId, key } = await shop([])
    const id = await create(key, { abTesting: true, subjectA: 'One', subjectB: 'Two', splitRule: 50 })
    await put(id, 'sent')
    for (const variant of ['A', 'B']) {
      const message = await addMessage({ accountId, id, name: variant, status: 'delivered', variant })
      if (variant === 'A') continue
      await addEvent(accountId, message, 'open', { classification: 'human' })
      await addEvent(accountId, message, 'click', { classification: 'human', url: 'https://shop.example' })
    }
    const { body } = await call(key, 'GET', `${base}/${id}/abTestCampaignResult`)
    assert.deepEqual([body.winningVersion, body.winningSubjectLine], ['B', 'Two'])
    assert.deepEqual([body.openRate, body.clickRate, body.winningCriteria], ['100%', '100%', 'Open'])
    assert.deepEqual(body.statistics.openers, { 'Version A': '0%', 'Version B': '100%' })
    const link = { link: 'https://shop.example', clicksCount: 1, clickRate: '100%' }
    assert.deepEqual(body.clickedLinks['Version B'], [link])
    const plain = await create(key)
    assert.equal((await call(key, 'GET', `${base}/${plain}/abTestCampaignResult`)).status, 400)
  })

  test('judge an A/B test of too few for a rest by what it was to be judged by', async () => {
    const { accountId, key } = await shop([])
    const abTest = { abTesting: true, subjectA: 'One', subjectB: 'Two', splitRule: 10 }
    const id = await create(key, { ...abTest, winnerCriteria: 'click', winnerDelay: 1 })
    await put(id, 'sent')
    for (const [variant, type] of [
      ['A', 'open'],
      ['B', 'click'],
    ] as const) {
      const message = await addMessage({ accountId, id, name: variant, status: 'delivered', variant })
      await addEvent(accountId, message, type, { classification: 'human', url: 'https://shop.example' })
    }
    const { body } = await call(key, 'GET', `${base}/${id}/abTestCampaignResult`)
    assert.deepEqual([body.winningVersion, body.winningCriteria], ['B', 'Click'])
  })

  test('share bounces of an A/B test by what was sent, and the rest by who could read it', async () => {
    const { accountId, key } = await shop([])
    const id = await create(key, { abTesting: true, subjectA: 'One', subjectB: 'Two', splitRule: 50 })
    const result = async () => (await call(key, 'GET', `${base}/${id}/abTestCampaignResult`)).body
    await put(id, 'in_process')
    assert.equal((await result()).winningVersion, 'pending')
    for (const [name, variant, status] of [
      ...[1, 2, 3].map((n) => [`a${n}`, 'A', 'failed'] as const),
      ['a4', 'A', 'sent'],
      ['b1', 'B', 'failed'],
      ['b2', 'B', 'sent'],
      ['b3', 'B', 'sent'],
    ] as const) {
      const message = await addMessage({ accountId, id, name, variant, status })
      if (status === 'failed') await addEvent(accountId, message, 'bounce', { bounce_type: 'hard' })
      if (name === 'b2') await addEvent(accountId, message, 'open', { classification: 'human' })
    }
    await put(id, 'sent')
    const { winningVersion, winningVersionRate, statistics } = await result()
    assert.deepEqual([winningVersion, winningVersionRate], ['B', '50%'])
    assert.deepEqual(statistics.openers, { 'Version A': '0%', 'Version B': '50%' })
    assert.deepEqual(statistics.hardBounces, { 'Version A': '75%', 'Version B': '33.33%' })
    await put(id, 'cancelled')
    assert.equal((await result()).winningVersion, 'notAvailable')
    const archived = await call(key, 'PUT', `${base}/${id}/status`, { status: 'archive' })
    assert.equal(archived.status, 204, archived.text)
    assert.equal((await result()).winningVersion, 'notAvailable')
  })
})

describe('the recipients of a campaign that was sent', () => {
  test('come with status and events', async () => {
    const { key, id } = await sent()
    const { body } = await call(key, 'GET', `${base}/${id}/recipients?sort=asc`)
    assert.equal(body.count, 4)
    const [anna, , cleo, dora] = body.recipients
    assert.equal(anna.email, 'anna@example.com')
    assert.ok(Number.isInteger(anna.contactId))
    assert.deepEqual(
      anna.events.map(({ name }: { name: string }) => name),
      ['open', 'open', 'click', 'click', 'unsubscribe'],
    )
    const time = '2026-11-01T11:00:00.000Z'
    const open = { name: 'open', time, ip: '192.0.2.1', userAgent: 'Mail', classification: 'human' }
    assert.deepEqual(anna.events[0], open)
    assert.deepEqual(cleo.events, [{ name: 'bounce', time, bounceType: 'hard', reason: 'no such user' }])
    assert.deepEqual([dora.status, dora.sentAt, dora.events], ['suppressed', null, []])
  })

  test('are counted as far as they can be listed: erased ones stay in the figures alone', async () => {
    const { accountId, key, id } = await sent()
    await addMessage({ accountId, id, name: 'emil', status: 'held' })
    const before = (await shown(key, id)).progress
    for (const name of ['anna', 'emil']) {
      const email = `${name}@example.com`
      const erased = await call(key, 'POST', '/api/v1/contacts/erase', { email, confirm: true })
      assert.equal(erased.body.erased.messages, 1, erased.text)
    }
    const { progress } = await shown(key, id)
    assert.deepEqual(progress, { ...before, held: 0, cancelled: before.cancelled + 1 })
    const listed = async (query: string) => {
      const { body } = await call(key, 'GET', `${base}/${id}/recipients${query}`)
      assert.equal(body.count, body.recipients.length, query)
      return body.count
    }
    assert.equal(await listed(''), before.total - 2)
    const byStatus = { delivered: before.delivered - 1, failed: 1, suppressed: 1, held: 0, cancelled: 0 }
    for (const [status, count] of Object.entries(byStatus))
      assert.equal(await listed(`?status=${status}`), count, status)
  })

  test('are paged by cursor and by offset, in both directions, and filtered', async () => {
    const { key, id } = await sent()
    const page = async (query: string) => {
      const { status, body, text } = await call(key, 'GET', `${base}/${id}/recipients?${query}`)
      assert.equal(status, 200, text)
      const names = body.recipients.map(({ email }: { email: string }) => email.split('@')[0])
      return { ...body, names }
    }
    for (const [sort, all] of [
      ['asc', ['anna', 'bob', 'cleo', 'dora']],
      ['desc', ['dora', 'cleo', 'bob', 'anna']],
    ] as const) {
      const first = await page(`limit=3&sort=${sort}`)
      const second = await page(`limit=3&sort=${sort}&cursor=${first.next_cursor}`)
      assert.deepEqual([...first.names, ...second.names], all)
      assert.equal(second.next_cursor, null)
      assert.deepEqual((await page(`limit=2&offset=1&sort=${sort}`)).names, all.slice(1, 3))
    }
    const delivered = await page('status=delivered')
    assert.deepEqual([delivered.count, delivered.names], [2, ['bob', 'anna']])
    for (const bad of ['limit=201', 'status=gone', 'cursor=x', 'offset=-1'])
      assert.equal((await call(key, 'GET', `${base}/${id}/recipients?${bad}`)).status, 400, bad)
  })
})

describe('a message as a page', () => {
  const pathOf = (url: string) => url.replace('http://test', '')

  test('shows the campaign to anybody, with nobody’s data and no script', async () => {
    const { key } = await shop()
    const htmlContent = '<p>Dear {{ contact.FIRSTNAME | default: "reader" }}</p><script>alert(1)</script>'
    const id = await create(key, { htmlContent })
    const { sharedUrl } = (await call(key, 'GET', `${base}/${id}/sharedUrl`)).body
    const page = await app.call('GET', pathOf(sharedUrl), { key: null })
    assert.equal(page.status, 200)
    assert.match(page.text, /Dear reader/)
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
    const policy = page.headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /sandbox/)
    assert.doesNotMatch(policy, /script-src|allow-scripts/)
    assert.equal(page.headers.get('x-robots-tag'), 'noindex, nofollow')
    for (const bad of [`${pathOf(sharedUrl)}x`, '/mirror/x', `/mirror/${'a'.repeat(3_000)}`, '/mirror/%00'])
      assert.equal((await app.call('GET', bad, { key: null })).status, 404, bad)
    await call(key, 'DELETE', `${base}/${id}`)
    assert.equal((await app.call('GET', pathOf(sharedUrl), { key: null })).status, 404)
  })
})

test('a list tells what became of the campaigns sent to it', async () => {
  const { key, id, listId } = await sent()
  const read = async (query = '') => (await call(key, 'GET', `/v3/contacts/lists/${listId}${query}`)).body
  assert.deepEqual((await read()).campaignStats, [{ campaignId: id, stats: figures }])
  const whole = await read('?startDate=2026-11-01&endDate=2026-11-01')
  assert.deepEqual([whole.name, whole.campaignStats.length], ['News', 1])
  assert.deepEqual((await read('?startDate=2026-11-02&endDate=2026-11-03')).campaignStats, [])
})

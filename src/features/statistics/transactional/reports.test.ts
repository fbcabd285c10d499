import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { until } from '../../../../test/until.ts'
import { row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'

const app = await makeApp({
  deliver: true,
  env: { POSTHORN_RETRY_FACTOR: '0.001', POSTHORN_RATE_LIMIT_FACTOR: '100' },
})

type Event = { email: string; event: string; reason?: string; messageId: string; tag?: string }

const get = async (path: string) => (await app.call('GET', path)).body

async function send(email: string, tags: string[] = []): Promise<string> {
  const { status, body } = await app.call('POST', '/v3/smtp/email', {
    body: {
      sender: { email: 'shop@example.com' },
      to: [{ email }],
      subject: 'Hello',
      htmlContent: '<p>Hi</p>',
      tags,
    },
  })
  assert.equal(status, 201)
  return body.messageId
}

const simulated = (act: string) => `${act}@simulator.posthorn.test`
let delivered = ''

before(async () => {
  delivered = await send('ann@example.com', ['alpha', 'beta'])
  for (const act of ['hard-bounce', 'soft-bounce', 'complaint', 'defer']) await send(simulated(act), [act])
  await until(async () => {
    const { requests, delivered, hardBounces, softBounces, spamReports } = await get(
      '/v3/smtp/statistics/aggregatedReport',
    )
    return [requests, delivered, hardBounces, softBounces, spamReports].join() === '5,3,1,1,1'
  }, 'all to be settled')
})

describe('reports', () => {
  test('aggregated: over 90 days, over given days, of a tag', async () => {
    const today = new Date().toISOString().slice(0, 10)
    const all = await get('/v3/smtp/statistics/aggregatedReport')
    assert.match(all.range, new RegExp(`^\\d{4}-\\d{2}-\\d{2}\\|${today}$`))
    const tagged = await get(
      `/v3/smtp/statistics/aggregatedReport?startDate=${today}&endDate=${today}&tag=beta`,
    )
    assert.deepEqual([tagged.range, tagged.requests, tagged.delivered], [`${today}|${today}`, 1, 1])
    const codeOf = async (query: string) => (await get(`/v3/smtp/statistics/aggregatedReport?${query}`)).code
    assert.equal(await codeOf('days=91'), 'out_of_range')
    assert.equal(await codeOf('startDate=2026-01-01'), 'missing_parameter')
    assert.equal(await codeOf('startDate=2026-01-01&endDate=2026-09-01'), 'out_of_range')
    assert.equal(await codeOf('startDate=2026-02-01&endDate=2026-01-01'), 'invalid_parameter')
    assert.equal(await codeOf('startDate=2026-02-31&endDate=2026-03-05'), 'invalid_parameter')
    assert.equal(await codeOf('startDate=soon&endDate=2026-01-01'), 'invalid_parameter')
    assert.equal(await codeOf('days=3&startDate=2026-01-01&endDate=2026-01-02'), 'invalid_parameter')
  })

  test('daily: every day of the range, newest first', async () => {
    const { reports } = await get('/v3/smtp/statistics/reports?days=3')
    assert.equal(reports.length, 3)
    assert.deepEqual([reports[0].requests, reports[0].hardBounces, reports[2].requests], [5, 1, 0])
    assert.equal((await get('/v3/smtp/statistics/reports')).reports.length, 10)
    assert.equal((await get('/v3/smtp/statistics/reports?limit=31')).code, 'out_of_range')
    const datesOf = (page: { reports: { date: string }[] }) => page.reports.map(({ date }) => date)
    const whole = datesOf(await get('/v3/smtp/statistics/reports?days=3'))
    for (const sort of ['asc', 'desc']) {
      const path = `/v3/smtp/statistics/reports?days=3&limit=2&sort=${sort}`
      const first = await get(path)
      const second = await get(`${path}&cursor=${first.next_cursor}`)
      const dates = [...datesOf(first), ...datesOf(second)]
      assert.deepEqual([dates, second.next_cursor], [sort === 'desc' ? whole : whole.toReversed(), null])
    }
    assert.equal((await get('/v3/smtp/statistics/reports?cursor=abc')).code, 'invalid_parameter')
  })

  test('events: in the provider’s words, filtered and paged', async () => {
    const events = async (query: string): Promise<Event[]> =>
      (await get(`/v3/smtp/statistics/events?${query}`)).events
    const wordsOf = async (query: string) => (await events(query)).map(({ event }) => event)
    const of = (act: string) => `email=${simulated(act)}`
    assert.deepEqual((await wordsOf('email=ANN@example.com')).sort(), ['delivered', 'requests'])
    assert.deepEqual((await wordsOf(of('hard-bounce'))).sort(), ['hardBounces', 'requests'])
    assert.deepEqual(new Set(await wordsOf(of('defer'))), new Set(['requests', 'deferred', 'delivered']))
    assert.deepEqual(await wordsOf(`${of('complaint')}&event=spam`), ['spam'])
    assert.deepEqual((await wordsOf('event=bounces')).sort(), ['hardBounces', 'softBounces'])
    assert.equal((await wordsOf('event=requests')).length, 5)
    const found = await events(`messageId=${encodeURIComponent(delivered)}&event=delivered`)
    assert.deepEqual([found[0]?.email, found[0]?.tag], ['ann@example.com', 'alpha'])
    assert.equal((await wordsOf(`messageId=${encodeURIComponent(delivered.slice(1, -1))}`)).length, 2)
    assert.equal((await wordsOf('tags=beta')).length, 2)
    assert.equal((await wordsOf('tags=hard-bounce')).length, 2)
    const json = `tags=${encodeURIComponent('["beta", "hard-bounce"]')}`
    const several = ['tags=beta&tags=hard-bounce', 'tags[]=beta&tags[]=hard-bounce']
    for (const query of [...several, 'tags[0]=beta&tags[1]=hard-bounce', 'tags=beta,%20hard-bounce,', json])
      assert.equal((await wordsOf(query)).length, 4, query)
    for (const none of ['tags=', 'tags=[]'])
      assert.equal((await wordsOf(none)).length, (await wordsOf('')).length)
    assert.match((await events('event=hardBounces'))[0]?.reason ?? '', /does not exist/)
    const all = await events('')
    const paged: Event[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { events: Event[]; next_cursor: string | null } = await get(
        `/v3/smtp/statistics/events?limit=4&cursor=${cursor}`,
      )
      paged.push(...page.events)
      cursor = page.next_cursor
    }
    assert.deepEqual(paged, all)
    assert.deepEqual(await events('sort=asc&offset=2'), all.toReversed().slice(2))
    assert.equal((await get('/v3/smtp/statistics/events?limit=5001')).code, 'out_of_range')
  })

  test('of another account are empty', async () => {
    const { key } = await app.makeAccount()
    const { body } = await app.call('GET', '/v3/smtp/statistics/events', { key })
    assert.deepEqual(body, { events: [], next_cursor: null })
  })
})

test('every tag of a message finds it and counts it in the own namespace too', async () => {
  const { key } = await app.makeAccount()
  const ask = async (path: string) => (await app.call('GET', path, { key })).body
  const sendTagged = async (email: string, tags: string[]) => {
    const mail = { sender: { email: 'shop@example.com' }, subject: 'Hello', htmlContent: '<p>Hi</p>' }
    const body = { ...mail, to: [{ email }], tags }
    assert.equal((await app.call('POST', '/v3/smtp/email', { key, body })).status, 201)
  }
  await sendTagged('a@example.com', ['one', 'two', 'three', 'two'])
  await sendTagged('b@example.com', ['two'])
  await sendTagged('c@example.com', ['three', 'two'])
  await sendTagged('d@example.com', ['two', 'two'])
  await sendTagged(simulated('open'), ['one', 'three'])
  await until(async () => (await ask('/api/v1/stats/engagement?tag=three')).opens.total === 1, 'the open')
  await until(async () => (await ask('/api/v1/stats/engagement')).delivered === 5, 'all to be delivered')
  for (const tag of ['one', 'two', 'three', 'none']) {
    const { sent, delivered, opens } = await ask(`/api/v1/stats/engagement?tag=${tag}`)
    const report = await ask(`/v3/smtp/statistics/aggregatedReport?tag=${tag}`)
    assert.deepEqual(
      [sent, delivered, opens],
      [report.requests, report.delivered, { total: report.opens, unique: report.uniqueOpens }],
      tag,
    )
  }
  assert.equal((await ask('/api/v1/stats/engagement')).sent, 5)
  type Page = { data: { to: string }[]; next_cursor: string | null }
  const namesOf = ({ data }: Page) => data.map(({ to }) => to[0])
  assert.deepEqual(namesOf(await ask('/api/v1/messages?tag=two')), ['d', 'c', 'b', 'a'])
  assert.deepEqual(namesOf(await ask('/api/v1/messages?tag=two&to=a@example.com')), ['a'])
  assert.deepEqual(namesOf(await ask('/api/v1/messages?tag=three&status=queued')), [])
  const paged: (string | undefined)[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page = await ask(`/api/v1/messages?tag=two&limit=1${cursor && `&cursor=${cursor}`}`)
    paged.push(...namesOf(page))
    cursor = page.next_cursor
  }
  assert.deepEqual(paged, ['d', 'c', 'b', 'a'])
  await app.call('POST', '/api/v1/contacts/erase', { key, body: { email: 'a@example.com', confirm: true } })
  const Left = row<{ tag: string }>({ tag: text })
  const left = await app.pools.db.many(
    Left,
    sql`
    -- all accounts: that one is gone
    select tag from message_tags where message_id not in (select id from messages)`,
  )
  assert.deepEqual([left, namesOf(await ask('/api/v1/messages?tag=two'))], [[], ['d', 'c', 'b']])
})

describe('opens and clicks of machines', () => {
  test('are reported as the filters of the account say; loads by a proxy have a word of their own', async () => {
    const { key } = await app.makeAccount()
    const read = async (path: string) => (await app.call('GET', `/v3/smtp/statistics/${path}`, { key })).body
    const acts = ['open', 'click', 'robot', 'proxy']
    for (const act of acts) {
      const to = [{ email: simulated(act) }]
      const html = { subject: 'Hello', htmlContent: '<p><a href="https://shop.example/">Hi</a></p>' }
      const body = { sender: { email: 'shop@example.com' }, to, ...html }
      assert.equal((await app.call('POST', '/v3/smtp/email', { key, body })).status, 201)
    }
    const filters = (robots: boolean, proxies: boolean) =>
      app.call('PUT', '/api/v1/settings', {
        key,
        body: { exclude_robot_activity: robots, exclude_privacy_proxy_opens: proxies },
      })
    const words = async (): Promise<string[]> =>
      (await read('events')).events.map(({ event }: Event) => event)
    const count = (all: string[], word: string) => all.filter((one) => one === word).length
    await filters(false, false)
    await until(async () => {
      const all = await words()
      return count(all, 'delivered') === 4 && all.includes('loadedByProxy') && count(all, 'clicks') >= 2
    }, 'all to have acted')
    const raw = await words()
    for (const [robots, proxies] of [
      [false, false],
      [false, true],
      [true, false],
      [true, true],
    ] as const) {
      await filters(robots, proxies)
      const listed = await words()
      assert.deepEqual(listed, raw, 'the log is not filtered')
      const opens = count(raw, 'opened') - (robots ? 1 : 0) + (proxies ? 0 : count(raw, 'loadedByProxy'))
      const clicks = count(raw, 'clicks') - (robots ? 1 : 0)
      const { reports } = await read('reports?days=1')
      const { range, ...whole } = await read('aggregatedReport?days=1')
      const { date, ...today } = reports[0]
      assert.equal(range, `${date}|${date}`)
      assert.deepEqual(whole, today)
      assert.deepEqual([whole.requests, whole.opens, whole.clicks], [4, opens, clicks])
      assert.ok(whole.uniqueOpens <= opens && whole.uniqueClicks <= whole.clicks)
    }
  })
})

describe('the log', () => {
  test('lists mail of an address or a message, and reads one with its events', async () => {
    assert.equal((await get('/v3/smtp/emails')).code, 'missing_parameter')
    const list = await get('/v3/smtp/emails?email=ann@example.com')
    const [mail] = list.transactionalEmails
    assert.deepEqual(
      [list.count, mail.messageId, mail.from, mail.tags],
      [1, delivered, 'shop@example.com', ['alpha', 'beta']],
    )
    assert.equal((await get(`/v3/smtp/emails?messageId=${encodeURIComponent(delivered)}`)).count, 1)
    assert.equal((await get('/v3/smtp/emails?templateId=5')).count, 0)
    assert.equal((await get('/v3/smtp/emails?email=a@b.example&limit=1001')).code, 'out_of_range')
    const read = await get(`/v3/smtp/emails/${mail.uuid}`)
    assert.deepEqual([read.email, read.body, read.attachmentCount], ['ann@example.com', '<p>Hi</p>', 0])
    assert.deepEqual(
      read.events.map(({ name }: { name: string }) => name),
      ['sent', 'delivered'],
    )
    const { key } = await app.makeAccount()
    assert.equal((await app.call('GET', `/v3/smtp/emails/${mail.uuid}`, { key })).status, 404)
    assert.equal((await app.call('GET', '/v3/smtp/emails/nonsense')).body.code, 'document_not_found')
  })
})

describe('blocked contacts', () => {
  test('are listed with the reason and unblocked', async () => {
    const { count, contacts } = await get('/v3/smtp/blockedContacts?sort=asc')
    assert.equal(count, 2)
    const bounced = contacts.find(({ email }: { email: string }) => email === simulated('hard-bounce'))
    assert.deepEqual([bounced.senderEmail, bounced.reason.code], ['shop@example.com', 'hardBounce'])
    assert.equal((await get('/v3/smtp/blockedContacts?limit=1')).contacts.length, 1)
    assert.equal((await get('/v3/smtp/blockedContacts?senders=else@example.com')).count, 0)
    assert.equal((await get('/v3/smtp/blockedContacts?senders=Shop@Example.com')).count, 2)
    assert.equal((await get('/v3/smtp/blockedContacts?limit=101')).code, 'out_of_range')
    const path = `/v3/smtp/blockedContacts/${encodeURIComponent(simulated('hard-bounce'))}`
    assert.deepEqual(
      [(await app.call('DELETE', path)).status, (await app.call('DELETE', path)).status],
      [204, 404],
    )
  })
})

test('they stay as they were when people are erased; the log forgets them', async () => {
  const { key } = await app.makeAccount()
  const call = (method: string, path: string, body?: unknown) => app.call(method, path, { key, body })
  const acts = ['click', 'robot', 'proxy', 'hard-bounce', 'complaint'].map(simulated)
  for (const email of [...acts, 'ben@example.com']) {
    const sender = { email: 'shop@example.com' }
    const htmlContent = '<p><a href="https://shop.example/">Hi</a></p>'
    const body = { sender, to: [{ email }], subject: 'Hello', htmlContent, tags: ['first', 'alpha'] }
    assert.equal((await call('POST', '/v3/smtp/email', body)).status, 201)
  }
  const report = async (query = '') =>
    (await call('GET', `/v3/smtp/statistics/aggregatedReport${query}`)).body
  await until(async () => {
    const { delivered, hardBounces, spamReports, clicks, uniqueOpens } = await report()
    return [delivered, hardBounces, spamReports, clicks, uniqueOpens].join() === '5,1,1,1,1'
  }, 'all to be settled')
  const filtered = (isOn: boolean) =>
    call('PUT', '/api/v1/settings', { exclude_robot_activity: isOn, exclude_privacy_proxy_opens: isOn })
  const readAll = async () => {
    const seen: unknown[] = []
    for (const isOn of [false, true]) {
      await filtered(isOn)
      seen.push(await report(), await report('?tag=alpha'), await report('?tag=other'))
      seen.push((await call('GET', '/v3/smtp/statistics/reports?days=2')).body)
    }
    return seen
  }
  const before = await readAll()
  for (const email of acts) {
    const erased = await call('POST', '/api/v1/contacts/erase', { email, confirm: true })
    assert.equal(erased.body.erased.messages, 1, erased.text)
  }
  assert.deepEqual(await readAll(), before)
  const { body } = await call('GET', '/v3/smtp/statistics/events')
  assert.deepEqual([...new Set(body.events.map(({ email }: Event) => email))], ['ben@example.com'])
})

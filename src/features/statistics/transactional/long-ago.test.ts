// Mail of many weeks, which is read a part at a time.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import pg from 'pg'
import { makeApp } from '../../../../test/app.ts'
import type { Ctx } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { firstUuidAt } from '../../../kernel/id.ts'
import { int, row, text } from '../../../kernel/row.ts'
import { compile, type Sql, sql } from '../../../kernel/sql.ts'
import { insertEvents } from '../../messages/event-queries.ts'
import { makeCampaign, sendCampaignTo } from '../fixtures/campaigns.ts'
import { aggregatedReport, dailyReports, pageOfEmailEvents } from './reports.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools
const { accountId } = app
const hourMs = 3_600_000
// At the full hour: what is delivered a minute later is then of the same day, whenever this runs.
const began = Math.floor(Date.now() / hourMs) * hourMs
const ages = [0.2, 0.5, 2, 7, 7.5, 30, 100, 300, 600, 601, 1000, 1900]

before(async () => {
  for (const [i, age] of ages.entries()) {
    const at = new Date(began - age * hourMs)
    const id = firstUuidAt(at.getTime())
    await db.run(sql`
      insert into messages (id, account_id, key_id, status, source, mode, stream, sender, recipient, subject,
                            message_id, created_at, sent_at, delivered_at, template_id)
      values (${id}, ${accountId}, ${id}, 'delivered', 'api', 'live', 'transactional', 's@example.com',
              ${`p${i % 3}@example.com`}, 'x', ${id}, ${at}, ${at}, ${at}, ${(i % 2) + 1})`)
    const later = new Date(at.getTime() + 60_000)
    const event = (n: number, type: string, when: Date) => ({
      ...{ id: firstUuidAt(at.getTime() + n), accountId, messageId: id, type, at: when, data: '{}' },
    })
    await insertEvents(db, [event(1, 'sent', at), event(2, 'delivery', later)])
  }
  const campaign = await makeCampaign(db, accountId, 'Spring')
  for (let i = 0; i < 20; i++)
    await sendCampaignTo(db, { accountId, campaign, email: 'p0@example.com', deliveredAt: new Date() })
})

type Event = { event: string; email: string; date: string }

async function walk(query: string): Promise<Event[]> {
  const found: Event[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await app.call(
      'GET',
      `/v3/smtp/statistics/events?${query.includes('startDate') ? '' : 'days=90&'}${query}&cursor=${cursor}`,
    )
    found.push(...body.events)
    cursor = body.next_cursor
  }
  return found
}

test('every event of ninety days is met once, in both directions and pages of any size', async () => {
  const all = await walk('limit=5000')
  assert.equal(all.length, ages.length * 2)
  const times = all.map(({ date }) => Date.parse(date))
  assert.deepEqual(
    times,
    times.toSorted((a, b) => b - a),
  )
  for (const limit of [1, 3, 7]) {
    assert.deepEqual(await walk(`limit=${limit}`), all)
    assert.deepEqual(await walk(`limit=${limit}&sort=asc`), all.toReversed())
  }
  for (const [query, wanted] of [
    ['event=delivered', (one: Event) => one.event === 'delivered'],
    ['event=requests', (one: Event) => one.event === 'requests'],
    ['email=p1@example.com', (one: Event) => one.email === 'p1@example.com'],
  ] as const)
    assert.deepEqual(await walk(`limit=2&${query}`), all.filter(wanted), query)
  assert.equal((await walk('limit=5&templateId=2')).length, ages.length)
  assert.deepEqual(await walk('limit=5&templateId=3'), [])
  const old = new Date(began - 1000 * hourMs).toISOString().slice(0, 10)
  assert.equal((await walk(`limit=1&startDate=${old}&endDate=${old}`)).length, 2)
})

const Found = row<{ events: number }>({ events: int })

test('events of campaigns are marked as such, and so are not read', async () => {
  const { events } = await db.one(
    Found,
    sql`select count(*)::int as events from message_events where account_id = ${accountId} and of_campaign`,
  )
  assert.equal(events, 40)
})

/** What a report asks the database for. */
async function asked(read: (ctx: Ctx) => Promise<unknown>): Promise<Sql[]> {
  const put: Sql[] = []
  const many: Db['many'] = (shape, statement) => {
    put.push(statement)
    return db.many(shape, statement)
  }
  const caller = { accountId }
  await read({ db: { ...db, many }, caller, now: new Date(), cursorKey: Buffer.alloc(32) } as unknown as Ctx)
  return put
}

test('bounces are found past any number of deliveries', async () => {
  const [message] = await db.many(
    row<{ id: string }>({ id: text }),
    sql`select id from messages where account_id = ${accountId} and recipient = 'p2@example.com' limit 1`,
  )
  const at = new Date(began - 50 * hourMs)
  const bounce = {
    accountId,
    messageId: message?.id ?? '',
    type: 'bounce',
    at,
    data: '{"bounce_type": "soft"}',
  }
  await insertEvents(db, [{ ...bounce, id: firstUuidAt(at.getTime()) }])
  assert.equal((await walk('event=softBounces')).length, 1)
  assert.equal((await walk('event=bounces&limit=1')).length, 1)
  assert.match(await planOf({ event: 'bounces' }), /message_events_rare_idx/)
})

test('acceptances are found past any number of messages of campaigns', async () => {
  assert.match(await planOf({}), /messages_transactional_idx/)
})

async function planOf(query: object): Promise<string> {
  const statements = await asked((ctx) => pageOfEmailEvents(ctx, query))
  const { text: question, values } = compile(statements.at(-1) as Sql)
  const client = new pg.Client({ connectionString: app.databaseUrl })
  await client.connect()
  // A table of these few rows is read whole otherwise.
  await client.query('set enable_seqscan = off')
  const { rows } = await client.query(`explain ${question}`, values)
  await client.end()
  return JSON.stringify(rows)
}

test('a page of daily reports counts its own days and no others', async () => {
  const get = async (query: string) => (await app.call('GET', `/v3/smtp/statistics/reports?${query}`)).body
  const whole = (await get('days=30&limit=30')).reports
  assert.deepEqual((await get('days=30&limit=7&offset=20')).reports, whole.slice(20, 27))
  assert.deepEqual((await get('days=30&limit=7&sort=asc')).reports, whole.toReversed().slice(0, 7))
  assert.deepEqual(await get('days=90&offset=90'), { reports: [], next_cursor: null })
  const [first, last] = [whole[1].date, whole[0].date]
  const { reports } = await get(`startDate=${first}T23:00:00Z&endDate=${last}&sort=asc&limit=1`)
  assert.deepEqual(reports, [whole[1]])
})

test('reports read counts, however much mail there was', async () => {
  for (const read of [
    (ctx: Ctx) => aggregatedReport(ctx, {}),
    (ctx: Ctx) => aggregatedReport(ctx, { tag: 'one' }),
    (ctx: Ctx) => dailyReports(ctx, { days: 90, limit: 3, offset: 40 }),
  ])
    for (const one of await asked(read)) assert.doesNotMatch(compile(one).text, /message/)
})

test('what has a tag that few messages have is looked up by it', async () => {
  await db.run(sql`
    update messages set tag = 'one', tags = '{one,two}'
     where account_id = ${accountId} and recipient = 'p1@example.com'`)
  await db.run(sql`
    insert into message_tags (account_id, tag, message_id)
    select account_id, 'two', id from messages where account_id = ${accountId} and tag = 'one'`)
  const wanted = (await walk('limit=5000')).filter(({ email }) => email === 'p1@example.com')
  for (const tag of ['one', 'two']) {
    assert.deepEqual(await walk(`limit=3&tags=${tag}`), wanted)
    const statements = await asked((ctx) => pageOfEmailEvents(ctx, { days: 90, tags: [tag] }))
    for (const one of statements.filter((each) => /message_events/.test(compile(each).text)))
      assert.match(compile(one).text, /from message_tags/)
  }
  assert.deepEqual(await walk('limit=3&tags=three'), [])
})

// Mail of many weeks, which is read a part at a time.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { firstUuidAt } from '../../../kernel/id.ts'
import { int, row } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { insertEvents } from '../../messages/delivery-queries.ts'
import { makeCampaign, sendCampaignTo } from '../fixtures/campaigns.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools
const { accountId } = app
const hourMs = 3_600_000
const ages = [0.2, 0.5, 2, 7, 7.5, 30, 100, 300, 600, 601, 1000, 1900]

before(async () => {
  for (const [i, age] of ages.entries()) {
    const at = new Date(Date.now() - age * hourMs)
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
  const old = new Date(Date.now() - 1000 * hourMs).toISOString().slice(0, 10)
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

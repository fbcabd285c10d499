// What reports tell of mail, against a recount of every message and event.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { runOnce } from '../../../kernel/job.ts'
import { sql } from '../../../kernel/sql.ts'
import {
  type MadeMessage,
  makeEvents,
  makeMessages,
  type Raw,
  type RawEvent,
  randomFrom,
  rawMessages,
} from './fixtures/histories.ts'
import { foldCounts } from './fold.ts'
import type { Counted } from './read-counts.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools
const accounts = [{ accountId: app.accountId, key: app.key }, await app.makeAccount()]
const settings = [true, false].flatMap((robots) => [true, false].map((proxies) => ({ robots, proxies })))
const fold = () =>
  runOnce({ name: 'counts.fold', everySeconds: 1, run: foldCounts }, { db, now: () => new Date() })

type Asked = { first: string; last: string; tag?: string }

/** Campaigns are not in these reports. */
function recount(raw: Raw[], { first, last, tag }: Asked, { robots, proxies }: Counted) {
  const isIn = (day: string) => day >= first && day <= last
  const messages = raw
    .filter(({ campaign, tags }) => campaign === null && (tag === undefined || tags.includes(tag)))
    .map((one) => ({ ...one, events: one.events.filter(({ day }) => isIn(day)) }))
  const total = (is: (event: RawEvent) => boolean) =>
    messages.flatMap(({ events }) => events).filter(is).length
  const having = (is: (event: RawEvent) => boolean) => messages.filter(({ events }) => events.some(is)).length
  const type = (name: string) => (event: RawEvent) => event.type === name
  const bounce = (kind: string) => (event: RawEvent) =>
    event.type === 'bounce' && event.data.bounce_type === kind
  const by = ({ data }: RawEvent) => data.classification
  const open = (event: RawEvent) =>
    event.type === 'open' &&
    (by(event) === 'human' || (robots && by(event) === 'robot') || (proxies && by(event) === 'privacy_proxy'))
  const click = (event: RawEvent) => event.type === 'click' && (robots || by(event) !== 'robot')
  return {
    requests: messages.filter(({ made }) => isIn(made)).length,
    delivered: total(type('delivery')),
    hardBounces: total(bounce('hard')),
    softBounces: total(bounce('soft')),
    clicks: total(click),
    uniqueClicks: having(click),
    opens: total(open),
    uniqueOpens: having(open),
    spamReports: total(type('complaint')),
    blocked: total(type('blocked')),
    invalid: 0,
    unsubscribed: total(type('unsubscribe')),
  }
}

const asked: Asked[] = [
  { first: '2026-08-20', last: '2026-10-20' },
  { first: '2026-09-01', last: '2026-10-20', tag: 'a' },
  { first: '2026-09-02', last: '2026-10-02', tag: 'c' },
  { first: '2026-09-17', last: '2026-09-17' },
]
const path = (report: string, { first, last, tag }: Asked) =>
  `/v3/smtp/statistics/${report}?startDate=${first}&endDate=${last}${tag === undefined ? '' : `&tag=${tag}`}`

async function assertEqualToRecount({ accountId, key }: { accountId: string; key: string }): Promise<void> {
  const raw = await rawMessages(db, accountId)
  const get = async (url: string) => (await app.call('GET', url, { key })).body
  for (const counted of settings) {
    const body = { exclude_robot_activity: !counted.robots, exclude_privacy_proxy_opens: !counted.proxies }
    await app.call('PUT', '/api/v1/settings', { key, body })
    for (const range of asked) {
      const { range: told, ...whole } = await get(path('aggregatedReport', range))
      assert.equal(told, `${range.first}|${range.last}`)
      assert.deepEqual(whole, recount(raw, range, counted))
      const { reports } = await get(`${path('reports', range)}&limit=30&sort=asc`)
      for (const { date, ...day } of reports)
        assert.deepEqual(day, recount(raw, { ...range, first: date, last: date }, counted), date)
    }
  }
}

test('reports equal a recount of the raw events, with writers and folds at once', async () => {
  const random = randomFrom(20261119)
  const ids = accounts.map(({ accountId }) => accountId)
  let messages: MadeMessage[] = []
  for (let round = 0; round < 4; round++) {
    messages = [...messages, ...(await makeMessages(db, random, ids, 40))]
    const writers = Array.from({ length: 4 }, async () => {
      for (let n = 0; n < 8; n++) await makeEvents(db, random, messages, 1 + random.next(25))
    })
    await Promise.all([...writers, ...Array.from({ length: 5 }, fold)])
    for (const account of accounts) await assertEqualToRecount(account)
    await fold()
    for (const account of accounts) await assertEqualToRecount(account)
  }
  await db.run(sql`select recount_reports()`)
  for (const account of accounts) await assertEqualToRecount(account)
})

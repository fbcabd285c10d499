import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { runOnce } from '../../../kernel/job.ts'
import { int, row } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { countFrozen } from './fixtures/frozen.ts'
import {
  campaigns,
  chosen,
  consentSources,
  lists,
  type MadeMessage,
  makeEvents,
  makeMessages,
  randomFrom,
  rawMessages,
  recount,
  recountDomains,
  tags,
} from './fixtures/histories.ts'
import { foldCounts } from './fold.ts'
import { readDomainRows } from './queries.ts'
import { progressOf, readCounts, readCountsBy, tallyOf } from './read-counts.ts'

const app = await makeApp()
const { db } = app.pools
const accountIds = [app.accountId, (await app.makeAccount()).accountId]
const settings = [true, false].flatMap((robots) => [true, false].map((proxies) => ({ robots, proxies })))
const people = { robots: false, proxies: false }
const given = <T>(value: T | null) => value ?? undefined

const fold = () =>
  runOnce({ name: 'counts.fold', everySeconds: 1, run: foldCounts }, { db, now: () => new Date() })

async function assertEqualToRecount(random: ReturnType<typeof randomFrom>): Promise<void> {
  for (const accountId of accountIds) {
    const raw = await rawMessages(db, accountId)
    const filters = [
      {},
      { first: '2026-09-01', last: '2026-09-30' },
      { campaignIds: ['501'] },
      { campaignIds: ['501', '502'], listId: given(random.pick(lists)) },
      { tag: given(random.pick(tags)), source: given(random.pick(consentSources)), first: '2026-09-02' },
    ]
    for (const filter of filters) {
      const counts = await readCounts(db, { accountId, ...filter })
      for (const counted of settings)
        assert.deepEqual(tallyOf(counts, counted), recount(chosen(raw, filter), counted))
    }
    assert.deepEqual(
      await readDomainRows(db, accountId, { first: '2026-09-01' }, 100),
      recountDomains(raw, '2026-09-01'),
    )
    const months = await readCountsBy(db, { accountId }, 'month')
    for (const [month, counts] of months) {
      const ofMonth = raw.filter(({ day }) => day.startsWith(month))
      assert.deepEqual(tallyOf(counts, people), recount(ofMonth, people))
    }
  }
}

const Off = row<{ off: number }>({ off: int })

/** In one statement, while others write: how far the counts are from the raw rows. */
const offBy = () =>
  db.one(
    Off,
    sql`
    -- all accounts: the messages of a test
    with counted as (
      select name, sum(n) as n
        from (select name, n from message_counts union all select name, n from message_count_changes) both_kinds
       group by 1
    ), events as (
      select e.type, e.message_id
        from message_events e
        join messages m on m.id = e.message_id
       where m.campaign_id is not null or m.source <> 'campaign'
    ), raw as (
      select 'delivered' as name, count(distinct message_id) as n from events where type = 'delivery'
      union all select 'sent', count(distinct message_id) from events where type in ('sent', 'bounce')
      union all select 'deferred', count(*) from events where type = 'deferred')
    select coalesce(sum(abs(r.n - coalesce(c.n, 0))), 0)::int as off from raw r left join counted c using (name)`,
  )

test('counters equal a recount of the raw events, with writers and folds at once', async () => {
  const random = randomFrom(20261115)
  let messages: MadeMessage[] = []
  for (let round = 0; round < 4; round++) {
    messages = [...messages, ...(await makeMessages(db, random, accountIds, 60))]
    const writers = Array.from({ length: 4 }, async () => {
      for (let n = 0; n < 6; n++) await makeEvents(db, random, messages, 1 + random.next(25))
    })
    const folds = Array.from({ length: 5 }, async () => {
      await fold()
      assert.equal((await offBy()).off, 0)
    })
    await Promise.all([...writers, ...folds])
    await assertEqualToRecount(random)
    await fold()
    await assertEqualToRecount(random)
  }
  await db.run(sql`select recount_messages()`)
  await assertEqualToRecount(random)
})

test('a campaign’s states always add up to what was frozen', async () => {
  const { accountId } = await app.makeAccount()
  const random = randomFrom(7)
  const messages = await makeMessages(db, random, [accountId], 90)
  for (const id of campaigns) if (id) await countFrozen(db, accountId, id)
  const progress = async () => progressOf(await readCounts(db, { accountId, campaignIds: ['501'] }))
  const states = async () => {
    const raw = chosen(await rawMessages(db, accountId), { campaignIds: ['501'] })
    return (status: string) => raw.filter((one) => one.status === status).length
  }
  const { total } = await progress()
  assert.ok(total > 10)
  for (const status of ['sent', 'held', 'delivered', 'failed', 'queued']) {
    const some = messages.filter(() => random.next(3) === 0).map(({ id }) => id)
    await db.run(sql`
      update messages set status = ${status} where account_id = ${accountId} and id = any(${some}::uuid[])`)
    if (random.next(2) === 0) await fold()
    const [now, raw] = [await progress(), await states()]
    assert.equal(now.total, total)
    for (const name of ['queued', 'held', 'sent', 'delivered', 'failed'] as const)
      assert.equal(now[name], raw(name), name)
  }
  const { queued, held } = await progress()
  await db.run(sql`delete from messages where account_id = ${accountId}`)
  const erased = await progress()
  assert.deepEqual([erased.total, erased.queued, erased.held, erased.cancelled], [total, 0, 0, queued + held])
})

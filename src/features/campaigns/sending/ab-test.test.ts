import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { sql } from '../../../kernel/sql.ts'
import { jobsOf, makeCampaign, makeList, pause, progress, resume } from './fixtures/campaigns.ts'
import { people, stepsWith } from './fixtures/steps.ts'

const app = await makeApp()
const { db } = app.pools
const run = jobsOf(db)
const { owner, messagesOf, queued, claim, settleClaimed } = stepsWith(app)

describe('an A/B test', () => {
  const abTest = { subjectA: 'This', subjectB: 'That', splitRule: 20, winnerCriteria: 'open', winnerDelay: 2 }
  const shares = async (id: string) => {
    const found = await messagesOf(id)
    return ['A', 'B', 'R'].map((one) => found.filter(({ variant }) => variant === one).length)
  }

  test('gives the share to each, and the rest the subject that more people opened', async () => {
    const me = await owner()
    const list = await makeList(db, me, people(20))
    const id = await makeCampaign(db, me, { recipients: { listIds: [list] }, abTest })
    await run('freeze', 'feed', 'winner')
    assert.deepEqual(await shares(id), [4, 4, 12])
    assert.deepEqual([(await progress(db, id)).counts, await queued(id)], [{ queued: 8, held: 12 }, 8])
    await pause(db, id)
    await run('follow')
    await resume(db, id)
    await run('follow', 'feed')
    assert.deepEqual([(await progress(db, id)).counts, await queued(id)], [{ queued: 8, held: 12 }, 8])
    const opened = (variant: string, classification: string, count: number) =>
      db.run(sql`
        insert into message_events (id, account_id, message_id, type, at, data)
        select gen_random_uuid(), account_id, id, 'open', now(),
               jsonb_build_object('classification', ${classification}::text)
          from messages where campaign_id = ${id} and variant = ${variant} order by id limit ${count}`)
    await opened('B', 'human', 2)
    await opened('A', 'human', 1)
    await opened('A', 'human', 1)
    await opened('A', 'robot', 4)
    await claim(id, 8)
    await settleClaimed(id, 'sent')
    await run('start', 'winner', 'follow')
    assert.deepEqual((await progress(db, id)).counts, { sent: 8, held: 12 })
    await jobsOf(db, () => new Date(Date.now() + 3 * 3_600_000))('winner', 'follow', 'feed')
    assert.deepEqual([(await progress(db, id)).counts, await queued(id)], [{ sent: 8, queued: 12 }, 12])
    const rest = (await messagesOf(id)).filter(({ variant }) => variant === 'R')
    assert.ok(rest.every(({ subject, held_reason }) => subject === 'That' && held_reason === null))
  })

  test('has not begun while the upstream takes nothing of it', async () => {
    const me = await owner()
    const list = await makeList(db, me, people(20))
    const id = await makeCampaign(db, me, { recipients: { listIds: [list] }, abTest })
    await run('freeze', 'feed')
    const put = (status: string) =>
      db.run(sql`
        update messages set status = ${status} where campaign_id = ${id} and variant in ('A', 'B')`)
    await put('held')
    await run('winner')
    await jobsOf(db, () => new Date(Date.now() + 3 * 3_600_000))('winner', 'follow', 'feed')
    assert.deepEqual([(await progress(db, id)).counts, await queued(id)], [{ held: 20 }, 8])
    await put('queued')
    await claim(id, 8)
    await settleClaimed(id, 'sent')
    await run('winner')
    await jobsOf(db, () => new Date(Date.now() + 3 * 3_600_000))('winner', 'follow', 'feed')
    assert.deepEqual((await progress(db, id)).counts, { sent: 8, queued: 12 })
  })

  const clickTest = { ...abTest, winnerCriteria: 'click' }

  /** Of a test by clicks, after so many hours. */
  async function winnerAfter(hours: number, clicks: [string, string, number][]) {
    const me = await owner()
    const list = await makeList(db, me, people(30))
    const id = await makeCampaign(db, me, { recipients: { listIds: [list] }, abTest: clickTest })
    await run('freeze', 'feed')
    await claim(id, 12)
    await settleClaimed(id, 'sent')
    await run('winner')
    const happened = (type: string, variant: string, classification: string, count: number) =>
      db.run(sql`
        insert into message_events (id, account_id, message_id, type, at, data)
        select gen_random_uuid(), account_id, id, ${type}, now(),
               jsonb_build_object('classification', ${classification}::text, 'url', 'https://example.com/' || n)
          from (select * from messages where campaign_id = ${id} and variant = ${variant} order by id limit ${count}) m
         cross join generate_series(1, 2) n`)
    // Opens say nothing here.
    await happened('open', 'A', 'human', 6)
    for (const [variant, classification, count] of clicks)
      await happened('click', variant, classification, count)
    await jobsOf(db, () => new Date(Date.now() + hours * 3_600_000))('winner', 'follow', 'feed')
    const rest = (await messagesOf(id)).filter(({ variant }) => variant === 'R')
    assert.equal(rest.length, 18)
    return [...new Set(rest.map(({ subject, status }) => `${subject} ${status}`))].join()
  }

  test('by clicks gives the rest what more people clicked in, once the time is over', async () => {
    assert.equal(await winnerAfter(1.9, [['B', 'human', 3]]), 'This held')
    assert.equal(await winnerAfter(2.1, [['B', 'human', 1]]), 'That queued')
    // People count, not their clicks; through a proxy only people click.
    assert.equal(
      await winnerAfter(2.1, [
        ['A', 'human', 2],
        ['B', 'human', 2],
        ['B', 'privacy_proxy', 3],
      ]),
      'That queued',
    )
  })

  test('lasts from when both versions are out, however long it was interrupted before', async () => {
    const me = await owner()
    const list = await makeList(db, me, people(10))
    const id = await makeCampaign(db, me, {
      recipients: { listIds: [list] },
      abTest: { ...abTest, splitRule: 10 },
    })
    const after = (hours: number) => jobsOf(db, () => new Date(Date.now() + hours * 3_600_000))
    await run('freeze', 'feed', 'winner')
    await pause(db, id)
    await run('follow', 'winner')
    await resume(db, id)
    await after(5)('winner', 'follow', 'feed', 'winner')
    assert.deepEqual((await progress(db, id)).counts, { queued: 2, held: 8 })
    await claim(id, 2)
    await settleClaimed(id, 'sent')
    await after(5)('winner', 'follow', 'feed')
    await after(6.9)('winner', 'follow', 'feed')
    assert.deepEqual((await progress(db, id)).counts, { sent: 2, held: 8 })
    await after(7.1)('winner', 'follow', 'feed')
    assert.deepEqual((await progress(db, id)).counts, { sent: 2, queued: 8 })
  })

  test('by clicks leaves robots out, and even is A', async () => {
    assert.equal(
      await winnerAfter(2.1, [
        ['B', 'robot', 6],
        ['A', 'human', 1],
      ]),
      'This queued',
    )
    assert.equal(
      await winnerAfter(2.1, [
        ['A', 'human', 3],
        ['B', 'human', 3],
        ['B', 'robot', 6],
      ]),
      'This queued',
    )
    assert.equal(await winnerAfter(2.1, []), 'This queued')
  })

  test('in halves has no rest; of a few people everybody has a version', async () => {
    const me = await owner()
    const of = async (count: number, splitRule: number) => {
      const list = await makeList(db, me, people(count, `s${count}-${splitRule}-`))
      const id = await makeCampaign(db, me, {
        recipients: { listIds: [list] },
        abTest: { ...abTest, splitRule },
      })
      await run('freeze')
      return shares(id)
    }
    assert.deepEqual(await of(7, 50), [4, 3, 0])
    assert.deepEqual(await of(3, 10), [1, 1, 1])
    assert.deepEqual(await of(1, 10), [1, 0, 0])
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { int, json, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { loadDue } from '../../messages/delivery-queries.ts'
import { cancel, jobsOf, makeCampaign, makeList, pause, progress, resume } from './fixtures/campaigns.ts'
import { people, stepsWith } from './fixtures/steps.ts'
import { putAside } from './hand-over-queries.ts'

const app = await makeApp()
const { db } = app.pools
const run = jobsOf(db)
const { owner, messagesOf, queued, claim, settleClaimed } = stepsWith(app)

describe('following a move', () => {
  async function running(count: number): Promise<string> {
    const me = await owner()
    const list = await makeList(db, me, people(count))
    const id = await makeCampaign(db, me, { recipients: { listIds: [list] } })
    await run('freeze', 'feed')
    assert.equal(await queued(id), count)
    return id
  }

  test('a pause holds what nobody has claimed; resume queues it again, and nothing stands there twice', async () => {
    const id = await running(10)
    await claim(id, 3)
    await pause(db, id)
    await run('follow', 'feed')
    assert.deepEqual([(await progress(db, id)).counts, await queued(id)], [{ queued: 3, held: 7 }, 3])
    const reasons = (await messagesOf(id)).flatMap(({ held_reason }) => held_reason ?? [])
    assert.match(reasons[0] ?? '', /interrupted; resuming it releases/)
    await resume(db, id)
    await run('follow', 'feed', 'feed')
    assert.deepEqual([(await progress(db, id)).counts, await queued(id)], [{ queued: 10 }, 10])
    await settleClaimed(id, 'sent')
    await run('feed')
    assert.deepEqual([(await progress(db, id)).counts, await queued(id)], [{ queued: 7, sent: 3 }, 7])
  })

  test('what a worker had, and gave back deferred, is held when it is looked at again', async () => {
    const id = await running(4)
    await claim(id, 2)
    await pause(db, id)
    await run('follow')
    assert.deepEqual((await progress(db, id)).counts, { queued: 2, held: 2 })
    await db.run(sql`update messages set attempts = 1 where campaign_id = ${id} and status = 'queued'`)
    await run('follow')
    assert.deepEqual([(await progress(db, id)).counts, await queued(id)], [{ held: 4 }, 0])
    await resume(db, id)
    await run('follow', 'feed')
    const Tries = row<{ tries: number[] }>({ tries: json() })
    const { tries } = await db.one(
      Tries,
      sql`
      select jsonb_agg(q.attempts order by q.attempts) as tries
        from delivery_queue q join messages m on m.id = q.message_id where m.campaign_id = ${id}`,
    )
    assert.deepEqual(tries, [0, 0, 1, 1])
  })

  test('a pause forgets no try of which nobody heard: those before it count for when it is given up', async () => {
    const id = await running(1)
    await db.run(sql`
      -- all accounts: the test made it
      update messages set attempts = 4, unsure_tries = 4 where campaign_id = ${id}`)
    await pause(db, id)
    await run('follow')
    assert.deepEqual((await progress(db, id)).counts, { held: 1 })
    await resume(db, id)
    await run('follow', 'feed')
    await claim(id, 1)
    const Claimed = row<{ id: string; attempts: number }>({ id: text, attempts: int })
    const claimed = await db.one(
      Claimed,
      sql`
      select m.id, q.attempts
        from delivery_queue q join messages m on m.id = q.message_id where m.campaign_id = ${id}`,
    )
    const [due] = await loadDue(db, [claimed.id])
    assert.deepEqual([claimed.attempts, due?.unsure_tries], [5, 4])
  })

  test('a pause and a resume in the same moment lose nothing that was put aside between them', async () => {
    const id = await running(3)
    await pause(db, id)
    // As a worker does that has claimed it.
    await db.run(sql`
      with one as (update messages set status = 'held'
                    where id = (select id from messages where campaign_id = ${id} limit 1) returning id)
      delete from delivery_queue where message_id in (select id from one)`)
    await resume(db, id)
    await run('follow', 'feed')
    assert.deepEqual([(await progress(db, id)).counts, await queued(id)], [{ queued: 3 }, 3])
  })

  test('what another worker has by now is not put aside, nor freed, by one that comes back late', async () => {
    const id = await running(1)
    const Place = row<{ id: string; attempts: number }>({ id: text, attempts: int })
    const placeOf = () =>
      db.one(
        Place,
        sql`
        select q.message_id as id, q.attempts
          from delivery_queue q join messages m on m.id = q.message_id where m.campaign_id = ${id}`,
      )
    await claim(id, 1)
    const late = await placeOf()
    await claim(id, 1)
    const isUntouched = async () => {
      await putAside(db, [late], 'interrupted')
      assert.deepEqual(await placeOf(), { ...late, attempts: 2 })
      assert.deepEqual((await progress(db, id)).counts, { queued: 1 })
    }
    await isUntouched()
    await pause(db, id)
    await isUntouched()
  })

  test('a cancellation ends what is queued or held, and the campaign is then left in peace', async () => {
    const id = await running(6)
    await claim(id, 1)
    await pause(db, id)
    await run('follow')
    await cancel(db, id)
    await run('follow')
    assert.deepEqual((await progress(db, id)).counts, { queued: 1, cancelled: 5 })
    await settleClaimed(id, 'sent')
    await run('follow', 'feed', 'start')
    assert.deepEqual(
      [(await progress(db, id)).counts, await queued(id), (await progress(db, id)).status],
      [{ sent: 1, cancelled: 5 }, 0, 'cancelled'],
    )
    const open = sql`
      select 1 from campaigns where id = ${id} and followed is distinct from in_force`
    assert.equal(await db.run(open), 0)
    // What was not sent counts against no quota, however often the campaign is put away and taken out again.
    for (const status of ['archive', 'cancelled', 'archive']) {
      await db.run(sql`
        update campaigns set was_status = ${status === 'archive' ? 'cancelled' : null}, status = ${status}
         where id = ${id}`)
      await run('follow')
    }
    const Sent = row<{ sent: number[] }>({ sent: json() })
    const { sent } = await db.one(
      Sent,
      sql`
      select jsonb_build_array(m.sent, d.sent) as sent
        from campaigns c
        join sending_months m on m.account_id = c.account_id
        join sending_days d on d.account_id = c.account_id
       where c.id = ${id}`,
    )
    assert.deepEqual(sent, [1, 1])
  })

  test('a campaign is sent when nothing of it is left', async () => {
    const id = await running(3)
    await claim(id, 2)
    await settleClaimed(id, 'sent')
    await run('start')
    assert.equal((await progress(db, id)).status, 'in_process')
    await claim(id, 1)
    await settleClaimed(id, 'failed')
    await run('start')
    const { status, total, sum } = await progress(db, id)
    assert.deepEqual([status, total, sum], ['sent', 3, 3])
  })

  test('an erased person will not get it; the total stays', async () => {
    const id = await running(3)
    await db.run(sql`delete from messages where campaign_id = ${id} and recipient = 'p1@example.org'`)
    const { total, kept } = await progress(db, id)
    assert.deepEqual([total, kept], [3, { queued: 2, cancelled: 1 }])
  })
})

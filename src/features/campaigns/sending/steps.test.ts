import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { int, json, maybe, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import {
  cancel,
  jobsOf,
  makeCampaign,
  makeList,
  type Owner,
  pause,
  progress,
  resume,
} from './fixtures/campaigns.ts'

const app = await makeApp()
const { db } = app.pools
const run = jobsOf(db)

async function owner(restrictions = {}): Promise<Owner> {
  const { accountId } = await app.makeAccount()
  return { accountId, keyId: (await app.makeKey(restrictions, accountId)).id }
}

const people = (count: number, prefix = 'p') =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}@example.org`)

const Message = row<{
  recipient: string
  status: string
  list_id: string | null
  consent_source: string | null
  variant: string | null
  subject: string
  held_reason: string | null
  reason: string | null
}>({
  recipient: text,
  status: text,
  list_id: maybe(text),
  consent_source: maybe(text),
  variant: maybe(text),
  subject: text,
  held_reason: maybe(text),
  reason: maybe(text),
})

const messagesOf = (id: string) =>
  db.many(
    Message,
    sql`
    select m.recipient, m.status, m.list_id, m.consent_source, m.variant, m.subject, m.held_reason,
           (select data ->> 'reason' from message_events e where e.message_id = m.id and type = 'blocked') as reason
      from messages m
     where m.campaign_id = ${id}
     order by m.recipient`,
  )

const Queue = row<{ count: number }>({ count: int })
const queued = async (id: string) =>
  (
    await db.one(
      Queue,
      sql`
      select count(*)::int as count
        from delivery_queue q
        join messages m on m.id = q.message_id
       where m.campaign_id = ${id}`,
    )
  ).count

/** What a worker does when it takes messages. */
const claim = (id: string, limit: number) =>
  db.run(sql`
    update delivery_queue
       set due_at = now() + interval '1 minute', attempts = attempts + 1
     where message_id in (select q.message_id
                            from delivery_queue q
                            join messages m on m.id = q.message_id
                           where m.campaign_id = ${id}
                           order by q.message_id
                           limit ${limit})`)

const settleClaimed = (id: string, status: string) =>
  db.transaction(async (tx) => {
    await tx.run(sql`
      update messages m
         set status = ${status}
        from delivery_queue q
       where q.message_id = m.id and m.campaign_id = ${id} and q.attempts > m.attempts`)
    await tx.run(sql`
      delete from delivery_queue q
       using messages m
       where q.message_id = m.id and m.campaign_id = ${id} and m.status = ${status}`)
  })

describe('freezing', () => {
  test('writes one message an address, with those who may not be written to and the reason', async () => {
    const me = await owner()
    const one = await makeList(db, me, people(6))
    const other = await makeList(db, me, [...people(4), 'only@example.org'])
    const without = await makeList(db, me, ['p5@example.org'])
    await db.run(sql`update contacts set status = 'unsubscribed' where email = 'p1@example.org'
                        and account_id = ${me.accountId}`)
    await db.run(sql`
      insert into suppressions (account_id, email, reason, source, created_at, id)
      values (${me.accountId}, 'p2@example.org', 'hard_bounce', 'bounce', now(), gen_random_uuid())`)
    const id = await makeCampaign(db, me, {
      recipients: { listIds: [one, other], exclusionListIds: [without] },
    })
    await run('freeze')
    const found = await messagesOf(id)
    assert.deepEqual(
      found.map(({ recipient, status, reason, list_id }) => [recipient, status, reason, Number(list_id)]),
      [
        ['only@example.org', 'queued', null, other],
        ['p0@example.org', 'queued', null, one],
        ['p1@example.org', 'suppressed', 'unsubscribe', one],
        ['p2@example.org', 'suppressed', 'hard_bounce', one],
        ['p3@example.org', 'queued', null, one],
        ['p4@example.org', 'queued', null, one],
      ],
    )
    assert.ok(found.every(({ consent_source, variant }) => consent_source === 'form' && variant === null))
    const { total, sum, counts, status } = await progress(db, id)
    assert.deepEqual([total, sum, counts, status], [6, 6, { queued: 4, suppressed: 2 }, 'in_process'])
    assert.equal(await queued(id), 0)
    const forms = row<{ well: boolean }>({ well: json() })
    const { well } = await db.one(
      forms,
      sql`
      select bool_and(id::text ~ '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]'
                      and message_id ~ '^<[0-9a-f]{32}@shop.example>$' and key_id = ${me.keyId}
                      and source = 'campaign' and stream = 'marketing') as well
        from messages where campaign_id = ${id}`,
    )
    assert.equal(well, true)
    await run('freeze')
    assert.equal((await progress(db, id)).sum, 6)
  })

  test('counts against cap and quota; without room the campaign waits, and resume asks again', async () => {
    const me = await owner({ dailyCap: 3 })
    const list = await makeList(db, me, people(5))
    const id = await makeCampaign(db, me, { recipients: { listIds: [list] } })
    await run('freeze', 'follow', 'feed')
    const held = await progress(db, id)
    assert.deepEqual([held.status, held.counts, held.total], ['suspended', { held: 5 }, 5])
    assert.match(
      held.held_reason ?? '',
      /daily sending cap of the key, 3 messages.*room for 5 messages: resume/,
    )
    await resume(db, id)
    await run('follow')
    assert.equal((await progress(db, id)).status, 'suspended')
    await db.run(sql`update api_keys set daily_cap = 5 where id = ${me.keyId}`)
    await resume(db, id)
    await run('follow')
    const going = await progress(db, id)
    assert.deepEqual([going.status, going.counts, going.held_reason], ['in_process', { queued: 5 }, null])
    const Spent = row<{ sent: string }>({ sent: text })
    const days = sql`select sent from sending_days where account_id = ${me.accountId}`
    const months = sql`select sent from sending_months where account_id = ${me.accountId}`
    assert.deepEqual([await db.one(Spent, days), await db.one(Spent, months)], [{ sent: '5' }, { sent: '5' }])
    await pause(db, id)
    await run('follow')
    await resume(db, id)
    await run('follow')
    assert.deepEqual(await db.one(Spent, days), { sent: '5' })
  })

  test('is refused when a list that the campaign names is gone', async () => {
    const me = await owner()
    const list = await makeList(db, me, people(2))
    const id = await makeCampaign(db, me, { recipients: { listIds: [list], exclusionListIds: [999_999] } })
    await run('freeze')
    const { status, total, held_reason } = await progress(db, id)
    assert.deepEqual([status, total], ['suspended', null])
    assert.match(held_reason ?? '', /list 999999/)
  })

  test('of nobody is a campaign that is sent', async () => {
    const me = await owner()
    const id = await makeCampaign(db, me, { recipients: { listIds: [await makeList(db, me, [])] } })
    await run('freeze', 'start')
    const { status, total } = await progress(db, id)
    assert.deepEqual([status, total], ['sent', 0])
  })
})

test('a scheduled campaign starts when its time has come', async () => {
  const me = await owner()
  const at = (minutes: number) => new Date(Date.now() + minutes * 60_000)
  const scheduled = (scheduledAt: Date) =>
    makeCampaign(db, me, { recipients: { listIds: [] }, status: 'queued', scheduledAt })
  const [past, future] = [await scheduled(at(-1)), await scheduled(at(1))]
  await run('start')
  assert.deepEqual(
    [(await progress(db, past)).status, (await progress(db, future)).status],
    ['in_process', 'queued'],
  )
  await jobsOf(db, () => at(2))('start')
  assert.equal((await progress(db, future)).status, 'in_process')
})

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

  test('an erased person is no longer one of its recipients', async () => {
    const id = await running(3)
    await db.run(sql`delete from messages where campaign_id = ${id} and recipient = 'p1@example.org'`)
    const { total, sum } = await progress(db, id)
    assert.deepEqual([total, sum], [2, 2])
  })
})

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
          from messages where campaign_id = ${id} and variant = ${variant} limit ${count}`)
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

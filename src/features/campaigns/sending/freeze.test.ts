import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { json, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { countRecipients } from '../recipients-queries.ts'
import { jobsOf, makeCampaign, makeList, pause, progress, resume } from './fixtures/campaigns.ts'
import { people, stepsWith } from './fixtures/steps.ts'

const app = await makeApp()
const { db } = app.pools
const run = jobsOf(db)
const { owner, messagesOf, queued } = stepsWith(app)

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

  test('stops at blocked domains, those of the account alone', async () => {
    const [me, other] = [await owner(), await owner()]
    for (const [{ accountId }, domain] of [
      [me, 'blocked.example'],
      [other, 'example.org'],
    ] as const)
      await db.run(sql`insert into blocked_domains (account_id, domain, created_at)
                       values (${accountId}, ${domain}, now())`)
    const emails = ['a@blocked.example', 'b@sub.blocked.example', 'c@example.org', 'd@blocked.example']
    const recipients = { listIds: [await makeList(db, me, emails)] }
    await db.run(sql`update contacts set status = 'unsubscribed' where email = 'd@blocked.example'`)
    assert.deepEqual(await countRecipients(db, me.accountId, recipients), {
      total: 4,
      sendable: 2,
      suppressed: 1,
      unsubscribed: 1,
    })
    const id = await makeCampaign(db, me, { recipients })
    await run('freeze')
    assert.deepEqual(
      (await messagesOf(id)).map(({ recipient, status, reason }) => [recipient, status, reason]),
      [
        ['a@blocked.example', 'suppressed', 'blocked_domain'],
        ['b@sub.blocked.example', 'queued', null],
        ['c@example.org', 'queued', null],
        ['d@blocked.example', 'suppressed', 'blocked_domain'],
      ],
    )
  })

  test('waits for the file; where that cannot be had the campaign is interrupted and says why', async () => {
    const me = await owner()
    const recipients = { listIds: [await makeList(db, me, people(2))] }
    const attachmentUrl = 'https://files.example/a.pdf'
    const id = await makeCampaign(db, me, { recipients, extras: { attachmentUrl } })
    let minutes = 0
    let file: Buffer | undefined
    let asked = 0
    const fetchAttachment = async () => {
      asked++
      if (file) return file
      throw new Error('it answered 404')
    }
    const now = () => new Date(Date.now() + minutes * 60_000)
    const steps = jobsOf(db, now, () => {}, fetchAttachment)
    for (; minutes < 2; minutes++) {
      await steps('attach', 'attach', 'freeze')
      assert.deepEqual([(await progress(db, id)).status, asked], ['in_process', minutes + 1])
    }
    await steps('attach', 'freeze')
    const { status, held_reason, sum } = await progress(db, id)
    assert.deepEqual([status, sum], ['suspended', 0])
    assert.match(held_reason ?? '', /https:\/\/files\.example\/a\.pdf could not be read: it answered 404\./)
    file = Buffer.alloc(4 * 1024 * 1024 + 1)
    await resume(db, id)
    for (minutes = 10; minutes < 13; minutes++) await steps('attach', 'freeze')
    assert.match((await progress(db, id)).held_reason ?? '', /larger than 4 MB/)
    file = Buffer.from('file')
    await resume(db, id)
    minutes = 20
    await steps('attach', 'attach', 'freeze')
    assert.deepEqual([(await progress(db, id)).sum, asked], [2, 7])
  })

  test('is not interrupted for a file that it does not name any more', async () => {
    const me = await owner()
    const recipients = { listIds: [await makeList(db, me, people(1))] }
    const urls = ['https://files.example/old.pdf', 'https://files.example/new.pdf']
    const id = await makeCampaign(db, me, { recipients, extras: { attachmentUrl: urls[0] } })
    let minutes = 0
    const now = () => new Date(Date.now() + minutes * 60_000)
    const fetched = jobsOf(
      db,
      now,
      () => {},
      async () => Buffer.from('file'),
    )
    const steps = jobsOf(
      db,
      now,
      () => {},
      async () => {
        if (minutes === 2) {
          // While the last try is under way.
          const extras = JSON.stringify({ attachmentUrl: urls[1] })
          await db.run(sql`update campaigns set extras = ${extras} where id = ${id}`)
          await fetched('attach')
        }
        throw new Error('it answered 404')
      },
    )
    for (; minutes < 3; minutes++) await steps('attach')
    await fetched('freeze')
    const { status, sum } = await progress(db, id)
    assert.deepEqual([status, sum], ['in_process', 1])
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

  test('takes the accounts in turn, also one that comes meanwhile', async () => {
    const [busy, other, late] = [await owner(), await owner(), await owner()]
    const campaignOf = async (me: typeof busy) =>
      makeCampaign(db, me, { recipients: { listIds: [await makeList(db, me, people(2))] } })
    const first = [await campaignOf(busy), await campaignOf(busy), await campaignOf(busy)]
    const second = await campaignOf(other)
    const order: string[] = []
    let third: string | undefined
    const watched: typeof db = {
      ...db,
      patiently: async (work, stopping) => {
        const result = await db.patiently(work, stopping)
        third ??= await campaignOf(late)
        for (const id of [...first, second, third])
          if (!order.includes(id) && (await messagesOf(id)).length > 0) order.push(id)
        return result
      },
    }
    await jobsOf(watched)('freeze')
    assert.deepEqual(order, [first[0], second, third, first[1], first[2]])
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

test('a campaign that warms an address up feeds its quota of the day, which grows', async () => {
  const me = await owner()
  const recipients = { listIds: [await makeList(db, me, people(100))] }
  const extras = { ipWarmupEnable: true, initialQuota: 20, increaseRate: 50 }
  const id = await makeCampaign(db, me, { recipients, extras })
  let hours = 0
  const steps = jobsOf(db, () => new Date(Date.now() + hours * 3_600_000))
  await steps('freeze')
  const fed = async (after: number) => {
    hours += after
    await steps('feed')
    await steps('feed')
    return queued(id)
  }
  assert.deepEqual([await fed(0), await fed(23), await fed(2)], [20, 20, 50])
  // A day in which nothing could go does not count.
  assert.deepEqual([await fed(23), await fed(48), await fed(25)], [50, 95, 100])
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

// What is delivered, to whom, in which order and how often.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { runOnce } from '../../kernel/job.ts'
import { silentLog } from '../../kernel/log.ts'
import { int, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { readConfig } from '../../main/config.ts'
import { openWebhooks } from '../../main/webhooks.ts'
import { app, db, env, event, makeMessage, now, shop } from './fixtures/app.ts'
import { openReceiver, verify } from './fixtures/receiver.ts'
import { webhookJobs } from './jobs.ts'

const days = 24 * 3_600_000

describe('deliveries', () => {
  test('of one message come in its order, of many side by side', async () => {
    let [underWay, most] = [0, 0]
    const receiver = await openReceiver((_got, response) => {
      most = Math.max(most, ++underWay)
      setTimeout(() => {
        underWay--
        response.writeHead(200).end()
      }, 10)
    })
    const { accountId, delivered } = await shop(receiver.url)
    const ids = await Promise.all(Array.from({ length: 40 }, () => makeMessage(accountId)))
    await db.transaction(async (tx) => {
      for (const type of ['delivery', 'open', 'click'])
        for (const id of ids)
          await tx.run(sql`
            insert into message_events (id, account_id, message_id, type, at)
            values (gen_random_uuid(), ${accountId}, ${id}, ${type}, now())`)
    })
    await delivered(120)
    for (const id of ids) {
      const words = receiver.got
        .filter(({ body }) => body['message-id'].includes(id))
        .map(({ body }) => body.event)
      assert.deepEqual(words, ['delivered', 'opened', 'click'])
    }
    assert.ok(most > 4 && most <= 32, `${most} at once`)
  })

  test('are made by one of two processes, each once', async () => {
    const config = readConfig({ DATABASE_URL: app.databaseUrl, ...env })
    const second = openWebhooks({ config, pools: app.pools, log: silentLog, now, baseUrl: 'http://test' })
    after(() => second.stop())
    const receiver = await openReceiver((_got, response) =>
      setTimeout(() => response.writeHead(200).end(), 5),
    )
    const shops = await Promise.all(Array.from({ length: 5 }, () => shop(receiver.url)))
    for (const { accountId } of shops) await Promise.all(Array.from({ length: 60 }, () => event(accountId)))
    const made = (await Promise.all(shops.map(({ delivered }) => delivered(60)))).flat()
    assert.equal(new Set(made.map(({ id }) => id)).size, 300)
    // On a busy machine a call may be given up after its two seconds and made again: that is an attempt more.
    for (const { id, attempts } of made) {
      const calls = receiver.got.filter(({ headers }) => headers['webhook-id'] === id).length
      assert.ok(calls >= 1 && calls <= attempts, `${id} came ${calls} times in ${attempts} attempts`)
    }
    await second.stop()
  })

  test('go to the account whose message it is, and to no other', async () => {
    const [mine, others] = [await openReceiver(), await openReceiver()]
    const me = await shop(mine.url)
    const other = await shop(others.url)
    await event(me.accountId)
    await me.delivered(1)
    assert.deepEqual([mine.got.length, others.got.length, await other.deliveries()], [1, 0, []])
    const [done] = await me.deliveries()
    const path = `/v3/webhooks/${other.id}/deliveries/${done.id}/replay`
    assert.equal((await app.call('POST', path, { key: other.key })).status, 404)
  })

  test('are listed page by page, replayed and tested', async () => {
    const receiver = await openReceiver()
    const { accountId, call, delivered } = await shop(receiver.url)
    for (let n = 0; n < 5; n++) await event(accountId)
    await delivered(5)
    const { body: page } = await call('GET', '/deliveries?limit=2')
    const { body: rest } = await call('GET', `/deliveries?limit=4&cursor=${page.next_cursor}`)
    const ids = [...page.deliveries, ...rest.deliveries].map((one) => one.id)
    assert.deepEqual([page.count, new Set(ids).size, rest.next_cursor], [5, 5, null])
    assert.deepEqual([...ids].sort().reverse(), ids)
    const again = await call('POST', `/deliveries/${ids[4]}/replay`)
    assert.deepEqual([again.status, again.body], [202, { id: ids[4] }])
    const [, , , , , sixth] = await receiver.calls(6)
    assert.equal(sixth?.headers['webhook-id'], ids[4])
    const tested = await call('POST', '/test', { event: 'click' })
    const seventh = (await receiver.calls(7))[6]
    assert.deepEqual(
      [seventh?.headers['webhook-id'], seventh?.body.event, seventh?.body.email, seventh?.body.link],
      [tested.body.id, 'click', 'test@example.com', 'https://example.com/'],
    )
    assert.equal((await call('POST', '/test', { event: 'spam' })).status, 400)
    assert.equal((await call('POST', '/deliveries/x/replay')).status, 404)
    assert.equal((await call('GET', '/deliveries?status=odd')).status, 400)
    assert.equal((await call('GET', '/deliveries?limit=201')).status, 400)
  })

  test('are there for everybody who replays them at once, while they are made', async () => {
    const receiver = await openReceiver()
    const { accountId, call, delivered } = await shop(receiver.url)
    await event(accountId)
    const [{ id }] = await delivered(1)
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => call('POST', `/deliveries/${id}/replay`)),
      )
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202])
    }
    await delivered(1)
  })

  test('that are batched go together, and together again under one id', async () => {
    let isFirst = true
    const receiver = await openReceiver((_got, response) => {
      response.writeHead(isFirst ? 500 : 200).end()
      isFirst = false
    })
    const { accountId, secret, call, delivered } = await shop(receiver.url, { batched: true })
    for (let n = 0; n < 3; n++) await event(accountId)
    await receiver.calls(1)
    await event(accountId)
    await delivered(4)
    const [one, two, three] = receiver.got
    assert.deepEqual([one?.body.length, two?.body.length, three?.body.length], [3, 3, 1])
    assert.equal(one?.text, two?.text)
    assert.equal(one?.headers['webhook-id'], two?.headers['webhook-id'])
    assert.notEqual(two?.headers['webhook-id'], three?.headers['webhook-id'])
    assert.equal(one?.body[0].event, 'delivered')
    for (const got of receiver.got) verify(secret, got)
    await call('POST', '/test', {})
    await receiver.calls(4, 2_000)
  })

  test('a full batch does not wait, and holds five hundred', async () => {
    const receiver = await openReceiver()
    const slower = await shop(receiver.url, { batched: true })
    const ids = await Promise.all(Array.from({ length: 20 }, () => makeMessage(slower.accountId)))
    await db.run(sql`
      insert into message_events (id, account_id, message_id, type, at)
      select gen_random_uuid(), ${slower.accountId}, m.id, 'click', now()
        from unnest(${ids}::uuid[]) as m (id), generate_series(1, 26)`)
    const [first, second] = await receiver.calls(2)
    assert.deepEqual([first?.body.length, second?.body.length], [500, 20])
    // The others wait for three seconds; both would go at the end of that.
    assert.ok(Number(second?.at) - Number(first?.at) > 500)
  })

  test('are forgotten after a month, and with their webhook', async () => {
    const receiver = await openReceiver()
    const { accountId, call, delivered, id } = await shop(receiver.url)
    await event(accountId)
    await delivered(1)
    const Count = row<{ n: number }>({ n: int })
    const count = async () =>
      (
        await db.one(
          Count,
          sql`
          select (select count(*) from webhook_deliveries where account_id = ${accountId} and webhook_id = ${id})::int
               + (select count(*) from webhook_queue where account_id = ${accountId} and webhook_id = ${id})::int as n`,
        )
      ).n
    const forget = async (aheadMs: number) => {
      for (const job of webhookJobs) await runOnce(job, { db, now: () => new Date(Date.now() + aheadMs) })
    }
    await forget(29 * days)
    assert.equal(await count(), 1)
    await forget(31 * days)
    assert.equal(await count(), 0)
    await event(accountId)
    await delivered(1)
    await receiver.close()
    await event(accountId)
    await call('DELETE')
    await forget(0)
    assert.equal(await count(), 0)
  })
})

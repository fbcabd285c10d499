// What does not wait its turn: whoever asks for a call now gets it; and what does: the rest of a message.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { until } from '../../../test/until.ts'
import type { Db } from '../../kernel/db.ts'
import { sql } from '../../kernel/sql.ts'
import { db, event, makeMessage, shop } from './fixtures/app.ts'
import { openReceiver } from './fixtures/receiver.ts'
import { giveUpDisabled } from './health-queries.ts'

/** Asks for a day without calls, which is a quarter of an hour here. */
async function pausedShop() {
  let isBusy = true
  const receiver = await openReceiver((_got, response) => {
    if (isBusy) response.writeHead(503, { 'retry-after': '86400' }).end()
    else response.writeHead(200).end()
    isBusy = false
  })
  const shopped = await shop(receiver.url)
  await event(shopped.accountId)
  const { pausedUntil } = await until(async () => {
    const { body } = await shopped.call('GET')
    return body.pausedUntil && body
  }, 'the pause to be shown')
  assert.ok(Date.parse(pausedUntil) - Date.now() > 800_000, pausedUntil)
  return { ...shopped, receiver }
}

const allAtOnce = (accountId: string, id: string, types: string[]) =>
  db.transaction(async (tx) => {
    for (const type of types)
      await tx.run(sql`
        insert into message_events (id, account_id, message_id, type, at)
        values (gen_random_uuid(), ${accountId}, ${id}, ${type}, now())`)
  })

describe('a pause that the receiver asked for', () => {
  test('is over when somebody tests the webhook', async () => {
    const { call, receiver } = await pausedShop()
    const tested = await call('POST', '/test', {})
    const [, second] = await receiver.calls(2)
    assert.equal(second?.headers['webhook-id'], tested.body.id)
    assert.equal((await call('GET')).body.pausedUntil, undefined)
  })

  test('is over when somebody replays a delivery', async () => {
    const { call, deliveries, delivered, receiver } = await pausedShop()
    const [{ id }] = await deliveries()
    assert.equal((await call('POST', `/deliveries/${id}/replay`)).status, 202)
    await delivered(1)
    assert.equal(receiver.got[1]?.headers['webhook-id'], id)
  })

  test('is over when the webhook is changed, and what waited is tried at once', async () => {
    const { accountId, call, deliveries, delivered } = await pausedShop()
    await event(accountId)
    const [, { nextAttemptAt }] = await deliveries()
    assert.ok(Date.parse(nextAttemptAt) - Date.now() > 800_000, nextAttemptAt)
    const better = await openReceiver()
    assert.equal((await call('PUT', '', { url: better.url })).status, 204)
    await delivered(2)
    assert.equal(better.got.length, 2)
  })
})

test('a pause that is asked for by a call from before a test does not stop the test', async () => {
  let answer = () => {}
  const receiver = await openReceiver((_got, response) => {
    if (receiver.got.length > 1) response.writeHead(200).end()
    else answer = () => response.writeHead(503, { 'retry-after': '86400' }).end()
  })
  const { accountId, call } = await shop(receiver.url)
  await event(accountId)
  await receiver.calls(1)
  const tested = await call('POST', '/test', {})
  answer()
  const [, second] = await receiver.calls(2)
  assert.equal(second?.headers['webhook-id'], tested.body.id)
})

test('what was put off behind a failed call is told at once where somebody asks for it', async () => {
  let answer = () => {}
  const receiver = await openReceiver(({ body }, response) => {
    if (body.event !== 'delivered') response.writeHead(200).end()
    else answer = () => response.writeHead(503, { 'retry-after': '86400' }).end()
  })
  const { accountId, call, deliveries } = await shop(receiver.url)
  const id = await makeMessage(accountId)
  await allAtOnce(accountId, id, ['delivery', 'open'])
  await receiver.calls(1)
  const opened = (await deliveries()).find((one: { event: string }) => one.event === 'opened')
  assert.equal((await call('POST', `/deliveries/${opened.id}/replay`)).status, 202)
  answer()
  await receiver.call('opened')
})

test('a test of a webhook with much to tell comes before all of it', async () => {
  const receiver = await openReceiver((_got, response) => {
    setTimeout(() => response.writeHead(500).end(), 50)
  })
  const { accountId, call } = await shop(receiver.url)
  await event(accountId)
  await receiver.calls(1)
  const ids = await Promise.all(Array.from({ length: 20 }, () => makeMessage(accountId)))
  await db.run(sql`
    insert into message_events (id, account_id, message_id, type, at)
    select gen_random_uuid(), ${accountId}, m.id, 'click', now()
      from unnest(${ids}::uuid[]) as m (id), generate_series(1, 10)`)
  const tested = await call('POST', '/test', {})
  const before = receiver.got.length
  const found = await until(
    async () => receiver.got.findIndex(({ headers }) => headers['webhook-id'] === tested.body.id) + 1,
    'the test call',
  )
  // One is under way, and the next may have been read already.
  assert.ok(found - before < 10, `${found - before} calls before it`)
})

test('what follows a failed call in its message waits for the next try of that, and once only', async () => {
  let failures = 0
  const receiver = await openReceiver(({ body }, response) => {
    const isBad = body.event === 'delivered' && failures++ < 2
    response.writeHead(isBad ? 500 : 200).end()
  })
  const { accountId, delivered } = await shop(receiver.url)
  const id = await makeMessage(accountId)
  await allAtOnce(accountId, id, ['delivery', 'open', 'click'])
  await delivered(3)
  const told = receiver.got.map(({ body }) => body.event)
  assert.deepEqual(told, ['delivered', 'delivered', 'opened', 'click', 'delivered'])
})

test('in a batch each event gives up by its own attempts', async () => {
  const receiver = await openReceiver((_got, response) =>
    response.writeHead(receiver.got.length === 1 ? 500 : 200).end(),
  )
  const { accountId, id, call, delivered } = await shop(receiver.url)
  const hold = (isHeld: boolean) =>
    db.run(sql`
      update webhooks
         set paused_until = ${isHeld ? new Date(Date.now() + 3_600_000) : null}
       where account_id = ${accountId} and id = ${id}`)
  await hold(true)
  for (let n = 0; n < 3; n++) await event(accountId)
  await db.run(sql`
    update webhook_queue
       set attempts = 9
     where (webhook_id, id) = (select webhook_id, id from webhook_queue where webhook_id = ${id} order by id limit 1)`)
  // Changing lifts the pause.
  assert.equal((await call('PUT', '', { batched: true })).status, 204)
  const [first] = await receiver.calls(1)
  assert.equal(first?.body.length, 3)
  assert.equal((await delivered(1, 'failed')).length, 1)
  await delivered(2)
  assert.deepEqual([receiver.got.length, receiver.got[1]?.body.length], [2, 2])
})

test('what waits for a webhook that is being switched on again is not given up', async () => {
  const receiver = await openReceiver()
  const { accountId, id, deliveries, delivered } = await shop(receiver.url)
  const set = (tx: Db, isOff: boolean) =>
    tx.run(sql`
      update webhooks
         set disabled_at = case when ${isOff} then now() end,
             paused_until = case when ${isOff} then now() + interval '1 hour' end
       where account_id = ${accountId} and id = ${id}`)
  await db.run(sql`update webhooks set paused_until = now() + interval '1 hour' where id = ${id}`)
  await event(accountId)
  await set(db, true)
  let givingUp: Promise<number> | undefined
  await db.transaction(async (tx) => {
    await set(tx, false)
    await tx.run(sql`update webhook_queue set due_at = now() where account_id = ${accountId}`)
    let isOver = false
    givingUp = giveUpDisabled(db, 100).finally(() => {
      isOver = true
    })
    const isWaiting = () =>
      tx.run(sql`select 1 from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`)
    await until(async () => isOver || (await isWaiting()) > 0, 'the job to be through, or to wait')
  })
  await givingUp
  await delivered(1)
  assert.equal((await deliveries()).length, 1)
})

// How calls are made, tried again and given up.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { until } from '../../../test/until.ts'
import { runOnce } from '../../kernel/job.ts'
import { sql } from '../../kernel/sql.ts'
import { callTimeoutMs } from './call.ts'
import { app, clock, db, env, event, makeMessage, now, shop, tell } from './fixtures/app.ts'
import { openReceiver, signatureBy, verify } from './fixtures/receiver.ts'
import { webhookJobs } from './jobs.ts'

const days = 24 * 3_600_000
const notices = async (key: string) => (await app.call('GET', '/api/v1/notices', { key })).body.data

describe('a call', () => {
  test('carries what the receiver asked to be known by', async () => {
    const receiver = await openReceiver()
    const url = receiver.url.replace('127.0.0.1', 'me:p%40ss@localhost')
    const headers = [{ key: 'X-Shop', value: 'one' }]
    const { accountId, secret, call } = await shop(url, { headers })
    await event(accountId)
    const [first] = await receiver.calls(1)
    assert.equal(first?.headers.authorization, `Basic ${Buffer.from('me:p@ss').toString('base64')}`)
    assert.equal(first?.headers['x-shop'], 'one')
    await call('PUT', '', { url: receiver.url, auth: { type: 'bearer', token: 'tok' } })
    await event(accountId)
    const [, second] = await receiver.calls(2)
    assert.equal(second?.headers.authorization, 'Bearer tok')
    for (const got of receiver.got) verify(secret, got)
  })

  test('that fails is made again with the same id and a signature of its own', async () => {
    let failures = 2
    const receiver = await openReceiver((_got, response) => {
      if (failures-- > 0) response.writeHead(500).end(`no ${'x'.repeat(5_000)}`)
      else response.writeHead(204).end()
    })
    const { accountId, secret, deliveries, delivered } = await shop(receiver.url)
    await event(accountId)
    await receiver.calls(1)
    const [waiting] = await until(async () => {
      const found = await deliveries('?status=pending')
      return found[0]?.attempts > 0 && found
    }, 'an attempt to be recorded')
    assert.deepEqual(
      [waiting.statusCode, waiting.error, waiting.response.length, waiting.response.slice(0, 5)],
      [500, 'The receiver answered 500.', 300, 'no xx'],
    )
    assert.ok(Date.parse(waiting.nextAttemptAt) > Date.parse(waiting.attemptedAt))
    const [done] = await delivered(1)
    assert.deepEqual([done.attempts, done.statusCode, done.error, done.nextAttemptAt], [3, 204, null, null])
    assert.deepEqual(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])), new Set([done.id]))
    for (const got of receiver.got) verify(secret, got)
    // 5 s and 5 min, a hundred times faster.
    const [one, two, three] = receiver.got.map(({ at }) => at)
    assert.ok(Number(two) - Number(one) >= 50 && Number(three) - Number(two) >= 3_000)
  })

  test('that was made is recorded although somebody else was in the way, and not made again', async () => {
    const receiver = await openReceiver()
    const { accountId, delivered } = await shop(receiver.url)
    await db.run(sql`create sequence records`)
    await db.run(sql`
      create function in_the_way() returns trigger language plpgsql as $$
      begin
        if nextval('records') = 1 then raise exception using errcode = '40P01', message = 'deadlock'; end if;
        return old;
      end $$`)
    await db.run(sql`
      create trigger in_the_way before delete on webhook_queue for each row execute function in_the_way()`)
    await event(accountId)
    await delivered(1)
    await db.run(sql`drop function in_the_way cascade`)
    assert.equal(receiver.got.length, 1)
  })

  test('that ran into the time limit is made again after the wait, not at once', async () => {
    const receiver = await openReceiver(() => {})
    const { accountId, deliveries } = await shop(receiver.url)
    await event(accountId)
    const [waiting] = await until(async () => {
      const found = await deliveries('?status=pending')
      return found[0]?.attempts > 0 && found
    }, 'an attempt to be recorded')
    const tookMs = callTimeoutMs(Number(env.POSTHORN_LEASE_SECONDS))
    assert.match(waiting.error, new RegExp(`took longer than ${tookMs} ms`))
    const afterMs = Date.parse(waiting.nextAttemptAt) - Date.parse(waiting.attemptedAt)
    assert.ok(afterMs >= tookMs + 50, `${afterMs}`)
  })

  test('is signed by the secrets that were replaced too, for a day', async () => {
    const receiver = await openReceiver()
    const { accountId, secret: first, id, call } = await shop(receiver.url)
    const { key: stranger } = await app.makeAccount()
    const refused = await app.call('POST', `/v3/webhooks/${id}/secret/rotate`, { key: stranger })
    assert.deepEqual([refused.status, refused.body.code], [404, 'document_not_found'])
    const [second, third] = [await call('POST', '/secret/rotate'), await call('POST', '/secret/rotate')]
    assert.deepEqual([second.status, third.status], [200, 200])
    const hoursLeft = (Date.parse(third.body.oldSecretUntil) - now().getTime()) / 3_600_000
    assert.ok(hoursLeft > 23.9 && hoursLeft <= 24)
    assert.deepEqual((await call('GET', '/secret')).body, { secret: third.body.secret })
    const secrets = [third.body.secret, second.body.secret, first]
    assert.equal(new Set(secrets).size, 3)
    await event(accountId)
    const [signedByAll] = await receiver.calls(1)
    assert.ok(signedByAll)
    assert.equal(
      signedByAll.headers['webhook-signature'],
      secrets.map((one) => signatureBy(one, signedByAll)).join(' '),
    )
    clock.aheadMs = 25 * 3_600_000
    await call('POST', '/test', {})
    const [, alone] = await receiver.calls(2)
    clock.aheadMs = 0
    assert.ok(alone)
    assert.equal(alone.headers['webhook-signature'], signatureBy(third.body.secret, alone))
  })

  test('has ten seconds, and never more than a third of the lease', () => {
    assert.deepEqual([callTimeoutMs(180), callTimeoutMs(6)], [10_000, 2_000])
  })

  test('is not led elsewhere by a redirect', async () => {
    const elsewhere = await openReceiver()
    const receiver = await openReceiver((_got, response) =>
      response.writeHead(302, { location: elsewhere.url }).end(),
    )
    const { accountId, deliveries } = await shop(receiver.url)
    await event(accountId)
    await receiver.calls(2)
    const [found] = await deliveries()
    assert.deepEqual([found.status, found.statusCode, elsewhere.got.length], ['pending', 302, 0])
  })

  test('ends with the head of the answer, whatever follows', async () => {
    const receiver = await openReceiver((got, response) => {
      response.writeHead(200)
      if (got.body.event === 'delivered') response.end('x'.repeat(1_000_000))
      else response.write('and so on')
    })
    const { accountId, delivered } = await shop(receiver.url)
    const id = await makeMessage(accountId)
    await tell(accountId, id)
    await tell(accountId, id, 'click')
    assert.deepEqual(
      (await delivered(2)).map((one: { statusCode: number }) => one.statusCode),
      [200, 200],
    )
  })

  test('is taken with the status of the answer, however slowly the rest comes', async () => {
    for (const begun of ['HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n']) {
      const receiver = await openReceiver((_got, { socket }) => {
        socket?.write(begun)
        const drip = setInterval(() => socket?.write('x'), 100)
        socket?.on('close', () => clearInterval(drip))
      })
      const { accountId, delivered } = await shop(receiver.url)
      await event(accountId)
      const [one] = await delivered(1)
      assert.deepEqual([one.statusCode, one.attempts, one.error], [200, 1, null], begun)
      assert.equal(receiver.got.length, 1)
    }
  })

  test('waits for as long as the receiver asks for, and all others to it do too', async () => {
    // However long it speaks of it.
    for (const page of ['', '<p>Too many requests.'.repeat(2_000)]) {
      let isBusy = true
      const receiver = await openReceiver((_got, response) => {
        if (isBusy) response.writeHead(429, { 'retry-after': '100' }).end(page)
        else response.writeHead(200).end()
        isBusy = false
      })
      const { accountId, delivered } = await shop(receiver.url)
      await event(accountId)
      const [first] = await receiver.calls(1)
      await event(accountId)
      await delivered(2)
      const [, second] = receiver.got
      // A hundred times faster.
      assert.ok(Number(second?.at) - Number(first?.at) >= 950)
    }
  })
})

describe('a receiver', () => {
  test('that is slow or dead delays no other, not even one at the same host', async () => {
    const slow = await openReceiver((got, response) => {
      if (got.path === '/hook') setTimeout(() => response.writeHead(200).end(), 4_000)
      else response.writeHead(200).end()
    })
    const dead = await openReceiver()
    await dead.close()
    const well = await openReceiver()
    const slowShop = await shop(slow.url)
    const deadShop = await shop(dead.url)
    const wellShop = await shop(well.url)
    const sameHost = await shop(slow.url.replace('/hook', '/other'))
    for (let n = 0; n < 40; n++) {
      await event(slowShop.accountId)
      await event(deadShop.accountId)
    }
    await slow.calls(10)
    for (const one of [wellShop, sameHost]) {
      const started = performance.now()
      await event(one.accountId)
      await one.delivered(1)
      assert.ok(performance.now() - started < 3_500)
    }
  })

  test('that says 410 is not called again until it is changed, and the account is told', async () => {
    const receiver = await openReceiver((_got, response) => response.writeHead(410).end())
    const { accountId, key, id, call, deliveries } = await shop(receiver.url)
    await event(accountId)
    const shown = await until(async () => {
      const { body } = await call('GET')
      return body.status === 'disabled' && body
    }, 'the webhook to be off')
    assert.match(shown.disabledReason, /410/)
    const [notice] = await notices(key)
    assert.deepEqual(
      [notice.code, notice.subject, notice.resolved_at],
      ['webhook_disabled', String(id), null],
    )
    assert.match(notice.message, new RegExp(`PUT /v3/webhooks/${id}`))
    await event(accountId)
    const [failed, ...others] = await deliveries()
    assert.deepEqual([failed.status, failed.statusCode, failed.attempts, others], ['failed', 410, 1, []])
    assert.equal((await call('POST', '/test', {})).status, 400)
    assert.equal((await call('POST', `/deliveries/${failed.id}/replay`)).status, 400)
    const better = await openReceiver()
    assert.equal((await call('PUT', '', { url: better.url })).status, 204)
    assert.equal((await call('GET')).body.status, 'active')
    assert.notEqual((await notices(key))[0].resolved_at, null)
    assert.equal((await call('POST', `/deliveries/${failed.id}/replay`)).status, 202)
    const [again] = await better.calls(1)
    assert.equal(again?.headers['webhook-id'], failed.id)
  })

  test('that does nothing but fail for five days is given up', async () => {
    const receiver = await openReceiver((_got, response) => response.writeHead(500).end())
    const { accountId, key, call, attempted, deliveries } = await shop(receiver.url)
    await event(accountId)
    await attempted(1)
    for (let count = 2; count <= 5; count++) {
      clock.aheadMs += 1.2 * days
      await attempted(count)
      assert.equal((await call('GET')).body.status, 'active')
    }
    clock.aheadMs += 0.3 * days
    const { disabledReason } = await until(async () => {
      const { body } = await call('GET')
      return body.status === 'disabled' && body
    }, 'the webhook to be off')
    assert.match(disabledReason, /five days.*500/)
    assert.deepEqual(
      (await notices(key)).map((one: { code: string }) => one.code),
      ['webhook_disabled'],
    )
    for (const job of webhookJobs) await runOnce(job, { db, now })
    const [left] = await deliveries()
    assert.deepEqual([left.status, left.statusCode], ['failed', 500])
    clock.aheadMs = 0
  })

  test('is not given up for the time in which nobody called', async () => {
    const receiver = await openReceiver((_got, response) => response.writeHead(500).end())
    const { accountId, call, attempted } = await shop(receiver.url)
    await event(accountId)
    await attempted(1)
    clock.aheadMs += 6 * days
    await attempted(2)
    clock.aheadMs += 1 * days
    await attempted(3)
    assert.equal((await call('GET')).body.status, 'active')
    clock.aheadMs = 0
  })

  test('is tried ten times for one event', async () => {
    const receiver = await openReceiver((_got, response) => response.writeHead(503).end())
    const { accountId, delivered } = await shop(receiver.url)
    await event(accountId)
    for (let attempt = 1; attempt <= 10; attempt++) {
      await receiver.calls(attempt)
      clock.aheadMs += 27 * 3_600_000 * 0.01
    }
    const [failed] = await delivered(1, 'failed')
    assert.deepEqual([failed.attempts, receiver.got.length], [10, 10])
    clock.aheadMs = 0
  })
})

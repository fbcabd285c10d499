import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { describe, test } from 'node:test'
import { call, makeApp, makeDatabase } from '../../../test/app.ts'
import { proxyTo } from '../../../test/stand-ins/cuttable-proxy.ts'
import { until } from '../../../test/until.ts'
import { silentLog } from '../../kernel/log.ts'
import { sql } from '../../kernel/sql.ts'
import { readConfig } from '../../main/config.ts'
import { openPools, openService, openTrackingKeys } from '../../main/wire.ts'

const app = await makeApp()
const get = (path: string, headers: Record<string, string> = {}) =>
  app.call('GET', path, { key: null, headers })

describe('/metrics', () => {
  test('are Prometheus text with requests counted by operation and status', async () => {
    await app.call('GET', '/api/v1/usage')
    await app.call('GET', '/api/v1/usage', { key: null })
    const { status, headers, text } = await get('/metrics')
    assert.equal(status, 200)
    assert.match(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
    assert.match(text, /^posthorn_requests_total\{operation="usage\.get",status="200"\} 1$/m)
    assert.match(text, /^posthorn_requests_total\{operation="usage\.get",status="401"\} 1$/m)
    assert.match(text, /^posthorn_request_seconds_bucket\{le="[^"]+",operation="usage\.get"\} \d+$/m)
    assert.match(text, /^process_resident_memory_bytes/m)
  })

  test('tell what waits in the queues', async () => {
    const waiting = async () => (await get('/metrics')).text.match(/^posthorn_(queue|webhook)\w+[{ ].*$/gm)
    assert.deepEqual(await waiting(), [
      'posthorn_queue_due_messages{stream="transactional"} 0',
      'posthorn_queue_due_messages{stream="marketing"} 0',
      'posthorn_queue_oldest_seconds{stream="transactional"} 0',
      'posthorn_queue_oldest_seconds{stream="marketing"} 0',
      'posthorn_webhook_due_events 0',
      'posthorn_webhook_oldest_seconds 0',
      'posthorn_webhooks_failing 0',
    ])
    // Nobody delivers here.
    const send = { from: 'a@example.com', to: 'b@example.com', subject: 'x', text: 'x' }
    assert.equal((await app.call('POST', '/api/v1/transactional/send', { body: send })).status, 202)
    await app.pools.db.run(sql`update delivery_queue set due_at = now() - interval '90 seconds'`)
    const [due, , oldest] = (await waiting()) ?? []
    assert.equal(due, 'posthorn_queue_due_messages{stream="transactional"} 1')
    assert.match(oldest ?? '', /transactional"\} 9\d$/)
    // One that was tried and waits for its next try is not due, and older for it.
    await app.pools.db.run(sql`update delivery_queue set due_at = now() + interval '1 hour', attempts = 1`)
    await app.pools.db.run(sql`
      update messages
         set attempts = 1, created_at = now() - interval '300 seconds'
       where account_id = ${app.accountId}`)
    const [notDue, , older] = (await waiting()) ?? []
    assert.equal(notDue, 'posthorn_queue_due_messages{stream="transactional"} 0')
    assert.match(older ?? '', /transactional"\} 30\d$/)
  })

  test('an unknown path makes no series of its own', async () => {
    for (const path of ['/nothing/a@b.example', '/api/v1/nothing']) await get(path)
    const { text } = await get('/metrics')
    assert.doesNotMatch(text, /nothing|b\.example/)
    assert.match(text, /operation="none",status="404"/)
  })

  test('are not there for whom a proxy on this machine speaks', async () => {
    for (const header of ['x-forwarded-for', 'X-Forwarded-For', 'forwarded']) {
      const { status, body } = await get('/metrics', { [header]: '127.0.0.1' })
      assert.deepEqual([status, body.error.code], [404, 'not_found'], header)
    }
  })

  test('are not there for other machines', async (t) => {
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((one) => one?.family === 'IPv4' && !one.internal)?.address
    if (!outside) return t.diagnostic('this machine has no other address')
    const pools = openPools({ url: app.databaseUrl, log: silentLog, strict: true })
    const config = readConfig({ DATABASE_URL: app.databaseUrl })
    const { http } = await openService({
      config,
      pools,
      log: silentLog,
      trackingKeys: await openTrackingKeys(pools.db),
      strict: true,
      baseUrl: 'http://test',
    })
    t.after(async () => {
      await http.close()
      await pools.close()
    })
    const base = `http://${outside}:${await http.listen(outside, 0)}`
    assert.equal((await call(base, 'GET', '/livez', {})).status, 200)
    assert.equal((await call(base, 'GET', '/metrics', {})).status, 404)
  })

  test('with a token are there for whoever sends it, and for nobody else', async () => {
    const guarded = await makeApp({
      databaseUrl: app.databaseUrl,
      env: { POSTHORN_METRICS_TOKEN: 'open sesame' },
    })
    const status = async (headers: Record<string, string>) =>
      (await guarded.call('GET', '/metrics', { key: null, headers })).status
    const right = { authorization: 'Bearer open sesame' }
    assert.equal(await status(right), 200)
    assert.equal(await status({ ...right, 'x-forwarded-for': '203.0.113.9' }), 200)
    const wrong = ['', 'Bearer', 'Bearer open', 'Bearer open sesame!', 'open sesame', 'Basic open sesame']
    for (const authorization of wrong) assert.equal(await status({ authorization }), 404, authorization)
    assert.equal(await status({}), 404)
    assert.equal(await status({ 'api-key': guarded.key }), 404)
  })
})

describe('/livez and /readyz', () => {
  test('answer without a key and without detail', async () => {
    for (const path of ['/livez', '/readyz']) {
      const { status, body } = await get(path)
      assert.deepEqual([status, body], [200, { status: 'ok' }])
    }
  })

  test('without a database the process is alive but not ready, and says so within two seconds', async () => {
    const proxy = await proxyTo(await makeDatabase())
    const shaky = await makeApp({ databaseUrl: proxy.url })
    for (const trouble of [proxy.silence, proxy.cut]) {
      trouble()
      const started = performance.now()
      const { status, body } = await shaky.call('GET', '/readyz', { key: null })
      assert.deepEqual([status, body], [503, { status: 'unavailable' }])
      assert.ok(performance.now() - started < 2_500)
      assert.equal((await shaky.call('GET', '/livez', { key: null })).status, 200)
      proxy.mend()
      const isReady = async () => (await shaky.call('GET', '/readyz', { key: null })).status === 200
      await until(isReady, 'the service to be ready', 5_000)
    }
  })

  test('a service that is about to stop is not ready', async (t) => {
    const pools = openPools({ url: app.databaseUrl, log: silentLog, strict: true })
    const config = readConfig({ DATABASE_URL: app.databaseUrl })
    const trackingKeys = await openTrackingKeys(pools.db)
    const shared = { config, pools, log: silentLog, strict: true, baseUrl: 'http://test' }
    const service = await openService({ ...shared, trackingKeys })
    t.after(async () => {
      await service.http.close()
      await pools.close()
    })
    const base = `http://127.0.0.1:${await service.http.listen('127.0.0.1', 0)}`
    service.beginStopping()
    assert.equal((await call(base, 'GET', '/readyz', {})).status, 503)
    assert.equal((await call(base, 'GET', '/livez', {})).status, 200)
  })
})

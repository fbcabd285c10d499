import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { int, row } from '../../kernel/row.ts'
import { type Sql, sql } from '../../kernel/sql.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '10' } })
const path = '/api/v1/transactional/send'
const stalled: ClientRequest[] = []
after(() => {
  for (const one of stalled) one.destroy()
})

/** Announced, and never sent. */
function stall(key: string, header: Record<string, string>): void {
  const headers = { 'api-key': key, 'content-type': 'application/json', ...header }
  const asked = request(`${app.url}${path}`, { method: 'POST', headers })
  asked.on('error', () => undefined)
  asked.flushHeaders()
  stalled.push(asked)
}

const Used = row<{ used: number }>({ used: int })

const admitted = (accountId: string, count: number) =>
  until(async () => {
    const found = await app.pools.db.maybe(
      Used,
      sql`select used from rate_windows where account_id = ${accountId} and operation = 'email.send'`,
    )
    return found?.used === count
  }, 'the requests')

const attachments = [{ filename: 'a.txt', content: 'AAAA'.repeat(400_000) }]
const body = { from: 'shop@example.com', to: 'anna@example.com', subject: 'Large', text: 'x' }
const send = async (key: string, more: object) =>
  (await app.call('POST', path, { key, body: { ...body, ...more } })).status

/** With another that fills what eight of them leave. */
const large = [
  [{ 'content-length': '30000000' }, '28000000'],
  [{ 'transfer-encoding': 'chunked' }, '16000000'],
] as const

for (const [header, rest] of large)
  test(`an account that keeps large bodies coming (${Object.keys(header)}) waits for itself alone`, async () => {
    const [{ accountId, key }, other] = [await app.makeAccount(), await app.makeAccount()]
    for (let n = 0; n < 8; n++) stall(key, header)
    stall(key, { 'content-length': rest })
    await admitted(accountId, 9)
    await sleep(100)
    let waited: number | undefined
    const waiting = send(key, { attachments }).then((status) => {
      waited = status
    })
    assert.equal(await send(other.key, { attachments }), 202)
    assert.equal(await send(key, {}), 202)
    assert.equal(waited, undefined)
    for (const one of stalled.splice(0)) one.destroy()
    await waiting
    assert.equal(waited, 202)
  })

const head = (line: string, key: string, more = '') =>
  `${line} HTTP/1.1\r\nHost: test\r\napi-key: ${key}\r\n${more}\r\n`

/** Clients that are gone before what the lock keeps waiting goes on. */
async function abandon(lock: Sql, key: string, before = ''): Promise<void> {
  const { port, hostname } = new URL(app.url)
  await app.pools.db.transaction(async (tx) => {
    await tx.run(lock)
    const gone = [...Array(8).fill('30000000'), '28000000'].map((length) => {
      const header = `content-type: application/json\r\ncontent-length: ${length}\r\n`
      const socket = connect(Number(port), hostname)
      socket.on('error', () => undefined).write(`${before}${head(`POST ${path}`, key, header)}{`)
      return socket
    })
    await sleep(700)
    for (const socket of gone) socket.destroy()
    await sleep(100)
  })
}

test('clients that are gone while their key is looked up keep no room', async () => {
  const { key } = await app.makeAccount()
  await abandon(sql`lock table rate_windows in access exclusive mode`, key)
  assert.equal(await send(key, { attachments }), 202)
})

test('nor do those whose answer stood behind another of the connection', async () => {
  const { key } = await app.makeAccount()
  await abandon(sql`lock table messages in access exclusive mode`, key, head('GET /api/v1/messages', key))
  assert.equal(await send(key, { attachments }), 202)
})

test('without a key the body of a request to /mcp is not waited for, let alone read', async () => {
  const headers = { 'content-type': 'application/json', 'content-length': '20000000' }
  const asked = request(`${app.url}/mcp`, { method: 'POST', headers, timeout: 5_000 })
  asked.on('timeout', () => asked.destroy(new Error('the body was waited for')))
  asked.flushHeaders()
  const [answered] = (await once(asked, 'response')) as [IncomingMessage]
  asked.destroy()
  assert.equal(answered.statusCode, 401)
})

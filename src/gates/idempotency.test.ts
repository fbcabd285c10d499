import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp, type Reply } from '../../test/app.ts'
import { createActs, writeAct } from '../../test/make-operation.ts'
import { int, row } from '../kernel/row.ts'
import { sql } from '../kernel/sql.ts'
import { deleteExpiredIdempotencyKeys } from './queries.ts'

let during = async () => {}
let now = () => new Date()
const app = await makeApp({
  extraOperations: [writeAct(() => during())],
  now: () => now(),
  env: { POSTHORN_RATE_LIMIT_FACTOR: '100' },
})
await app.pools.db.run(createActs)

function act(key: string | undefined, note: string, as = app.key): Promise<Reply> {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
  return app.call('POST', '/api/v1/test-acts', { key: as, body: { note }, headers })
}

async function countActs(note: string): Promise<number> {
  const { n } = await app.pools.db.one(
    row<{ n: number }>({ n: int }),
    sql`select count(*)::int as n from acts where note = ${note}`,
  )
  return n
}

test('50 identical calls at once act once', async () => {
  const replies = await Promise.all(Array.from({ length: 50 }, () => act('at-once', 'at once')))
  assert.equal(await countActs('at once'), 1)
  const accepted = replies.filter(({ status }) => status === 202)
  const others = replies.filter(({ status }) => status !== 202)
  assert.ok(accepted.length >= 1)
  assert.equal(new Set(accepted.map(({ text }) => text)).size, 1)
  assert.equal(accepted.filter(({ headers }) => headers.get('idempotency-replayed') === null).length, 1)
  for (const { status, body } of others)
    assert.deepEqual([status, body.error.code], [409, 'idempotency_in_progress'])
})

test('a repeat gets the first answer again, byte for byte', async () => {
  const first = await act('again', 'again')
  const second = await act('again', 'again')
  assert.deepEqual([second.status, second.text], [first.status, first.text])
  assert.equal(first.headers.get('idempotency-replayed'), null)
  assert.equal(second.headers.get('idempotency-replayed'), 'true')
  assert.equal(await countActs('again'), 1)
})

test('the order of the fields does not make another body', async () => {
  const send = (raw: string) =>
    app.call('POST', '/api/v1/test-acts', { raw, headers: { 'idempotency-key': 'order' } })
  const first = await send('{"note":"order","secret":"s"}')
  assert.equal((await send('{"secret":"s", "note":"order"}')).text, first.text)
})

test('the same key with another body is refused', async () => {
  await act('reused', 'one')
  const reply = await act('reused', 'two')
  assert.deepEqual([reply.status, reply.body.error.code], [422, 'idempotency_key_reused'])
  assert.equal(await countActs('two'), 0)
})

test('keys of two accounts do not meet', async () => {
  const other = await app.makeAccount()
  await act('shared', 'mine')
  const reply = await act('shared', 'theirs', other.key)
  assert.equal(reply.status, 202)
  assert.equal(reply.headers.get('idempotency-replayed'), null)
})

test('what a test key tried out is no answer to a live key', async () => {
  const { key } = await app.makeKey({ mode: 'test' })
  const tried = await act('tried', 'tried', key)
  assert.equal((await act('tried', 'tried', key)).headers.get('idempotency-replayed'), 'true')
  const meant = await act('tried', 'tried')
  assert.deepEqual([tried.status, meant.status], [202, 202])
  assert.equal(meant.headers.get('idempotency-replayed'), null)
  assert.equal(await countActs('tried'), 2)
})

test('a call that fails frees its key', async () => {
  during = async () => {
    throw new Error('planted')
  }
  assert.equal((await act('fails', 'fails')).status, 500)
  during = async () => {}
  assert.equal(await countActs('fails'), 0)
  assert.equal((await act('fails', 'fails')).status, 202)
})

test('while the first runs, a second gets 409 and the right to retry', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const entered = new Promise<void>((resolve) => {
    during = async () => {
      resolve()
      await held
    }
  })
  const first = act('slow', 'slow')
  await entered
  const second = await act('slow', 'slow')
  assert.deepEqual([second.status, second.body.error.code], [409, 'idempotency_in_progress'])
  assert.deepEqual([second.body.error.retryable, second.headers.get('retry-after')], [true, '1'])
  during = async () => {}
  release()
  assert.equal((await first).status, 202)
  assert.equal((await act('slow', 'slow')).headers.get('idempotency-replayed'), 'true')
})

test('an empty or overlong key is refused', async () => {
  for (const key of ['', 'x'.repeat(256)]) {
    const reply = await act(key, 'bad key')
    assert.deepEqual([reply.status, reply.body.error.param], [422, 'Idempotency-Key'])
  }
  assert.equal((await act('x'.repeat(255), 'long key')).status, 202)
})

test('after 24 hours a key is free again', async () => {
  await act('old', 'old')
  now = () => new Date(Date.now() + 24 * 3_600_000 + 1000)
  const reply = await act('old', 'old')
  now = () => new Date()
  assert.equal(reply.headers.get('idempotency-replayed'), null)
  assert.equal(await countActs('old'), 2)
})

test('keys that are over go in portions, all others stay', async () => {
  const { db } = app.pools
  const { accountId } = await app.makeAccount()
  await db.run(sql`
    insert into idempotency_keys (account_id, operation, key, fingerprint, status, reply, expires_at)
    select ${accountId}, 'email.send', n::text, '', 202, '{}', make_timestamptz(2020, 1, 1, 0, 0, n % 2)
      from generate_series(1, 9) n`)
  const before = new Date('2020-01-01T00:00:00Z')
  const forget = () => deleteExpiredIdempotencyKeys(db, { before, limit: 3 })
  assert.deepEqual([await forget(), await forget(), await forget()], [3, 1, 0])
  const { n } = await db.one(
    row<{ n: number }>({ n: int }),
    sql`select count(*)::int as n from idempotency_keys where account_id = ${accountId}`,
  )
  assert.equal(n, 5)
})

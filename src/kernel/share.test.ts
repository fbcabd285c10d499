import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../test/app.ts'
import { Refusal } from './refusal.ts'
import { openShare } from './share.ts'
import { sql } from './sql.ts'

function gate() {
  let open = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, passed }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Works that are begun by the share and ended by the test. */
function steered(share: ReturnType<typeof openShare>) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const ask = (accountId: string, name: string) =>
    share(accountId, () => {
      begun.push(name)
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
    })
  return { ask, begun, end: (name: string) => ends.get(name)?.() }
}

test('what is beyond the share of an account waits for its own; others go on', async () => {
  const { ask, begun, end } = steered(openShare(2))
  const outs = [ask('1', 'a'), ask('1', 'b'), ask('1', 'c'), ask('1', 'd'), ask('2', 'x')]
  await turn()
  assert.deepEqual(begun, ['a', 'b', 'x'])
  end('x')
  await turn()
  assert.deepEqual(begun, ['a', 'b', 'x'])
  end('a')
  await turn()
  assert.deepEqual(begun, ['a', 'b', 'x', 'c'])
  for (const name of ['b', 'c']) end(name)
  await turn()
  end('d')
  assert.deepEqual(await Promise.all(outs), ['a', 'b', 'c', 'd', 'x'])
})

test('who waits too long is refused, and leaves the line', async () => {
  const { ask, begun, end } = steered(openShare(1, 20))
  const first = ask('1', 'a')
  await assert.rejects(ask('1', 'late'), (error) => error instanceof Refusal && error.code === 'rate_limited')
  const next = ask('1', 'b')
  end('a')
  await turn()
  assert.deepEqual(begun, ['a', 'b'])
  end('b')
  assert.deepEqual([await first, await next], ['a', 'b'])
})

test('a work that fails frees its place', async () => {
  const share = openShare(1)
  await assert.rejects(
    share('1', async () => {
      throw new Error('planted')
    }),
    /planted/,
  )
  assert.equal(await share('1', async () => 'next'), 'next')
})

test('long reads of one account keep nothing of another from being read or sent', async () => {
  const app = await makeApp()
  const [large, small] = [await app.makeAccount(), await app.makeAccount()]
  // Whoever reads attributes waits for this lock, as for a statement that takes long.
  const [isLocked, mayEnd] = [gate(), gate()]
  const holding = app.pools.db.transaction(async (tx) => {
    await tx.run(sql`lock table contact_attributes in access exclusive mode`)
    isLocked.open()
    await mayEnd.passed
  })
  await isLocked.passed
  const reads = Array.from({ length: 12 }, () =>
    app.call('GET', '/v3/contacts/attributes', { key: large.key }),
  )
  const body = { from: 'shop@example.com', to: 'anna@example.org', subject: 'S', text: 'T' }
  const sent = await app.call('POST', '/api/v1/transactional/send', { key: small.key, body })
  assert.equal(sent.status, 202)
  assert.equal((await app.call('GET', '/api/v1/usage', { key: small.key })).status, 200)
  mayEnd.open()
  await holding
  for (const read of await Promise.all(reads)) assert.equal(read.status, 200)
})

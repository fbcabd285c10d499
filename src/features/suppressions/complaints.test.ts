import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import type { Db } from '../../kernel/db.ts'
import { newUuid } from '../../kernel/id.ts'
import { insertSuppressions } from './insert-queries.ts'
import { carry, type Reason, suppress } from './suppressions.ts'

const app = await makeApp()
const { db } = app.pools
const { accountId } = app
const march = (day: number) => new Date(Date.UTC(2026, 2, day))

type Asked = { day?: number; tx?: Db }

const add = (email: string, reason: Reason, { day = 1, tx = db }: Asked = {}) =>
  suppress(tx, { accountId, email }, { reason, source: `by ${reason}`, messageId: null, at: march(day) })

async function listed(email: string) {
  const { body } = await app.call('GET', `/api/v1/suppressions?email=${email}`)
  assert.equal(body.data.length, 1)
  const { reason, source, created_at } = body.data[0]
  return [reason, source, created_at.slice(0, 10)]
}

const complaint = ['complaint', 'by complaint', '2026-03-05']

test('a complaint takes the place of every other reason, and none takes its place', async () => {
  for (const reason of ['unsubscribe', 'manual', 'hard_bounce', 'soft_bounce_limit'] as const) {
    const [later, sooner] = [`${reason}.later@example.com`, `${reason}.sooner@example.com`]
    assert.equal(await add(later, reason), true)
    assert.equal(await add(later, 'complaint', { day: 5 }), false)
    assert.deepEqual(await listed(later), complaint)
    await add(sooner, 'complaint', { day: 5 })
    assert.equal(await add(sooner, reason, { day: 6 }), false)
    assert.deepEqual(await listed(sooner), complaint)
  }
  const { body } = await app.call('GET', '/api/v1/suppressions?reason=complaint')
  assert.equal(body.data.length, 8)
  const { contacts } = (await app.call('GET', '/v3/smtp/blockedContacts')).body
  const codes = contacts.map(({ reason }: { reason: { code: string } }) => reason.code)
  assert.deepEqual(new Set(codes), new Set(['contactFlaggedAsSpam']))
})

test('of the others the first stays', async () => {
  await add('first@example.com', 'unsubscribe')
  await add('first@example.com', 'hard_bounce', { day: 5 })
  assert.deepEqual(await listed('first@example.com'), ['unsubscribe', 'by unsubscribe', '2026-03-01'])
  await add('second@example.com', 'hard_bounce')
  await add('second@example.com', 'unsubscribe', { day: 5 })
  assert.deepEqual(await listed('second@example.com'), ['hard_bounce', 'by hard_bounce', '2026-03-01'])
})

test('both at once end as a complaint, whoever comes first', async () => {
  for (const [first, second] of [
    ['complaint', 'unsubscribe'],
    ['unsubscribe', 'complaint'],
  ] as const) {
    const email = `${first}.first@example.com`
    let waiting: Promise<boolean> | undefined
    await db.transaction(async (tx) => {
      await add(email, first, { day: 5, tx })
      // It has to wait for this one.
      waiting = add(email, second, { day: 5 })
    })
    await waiting
    assert.deepEqual(await listed(email), complaint)
  }
})

test('the same address twice in one go is one entry, the complaint before all', async () => {
  const one = { accountId, email: 'twice@example.com', messageId: null, at: march(5) }
  const entry = (reason: Reason) => ({ ...one, id: newUuid(), reason, source: `by ${reason}` })
  const all = [entry('unsubscribe'), entry('complaint'), entry('manual'), entry('complaint')]
  assert.equal(await insertSuppressions(db, all), 1)
  assert.deepEqual(await listed(one.email), complaint)
})

test('a complaint goes along to the address that its person has moved to', async () => {
  await add('old@example.com', 'complaint', { day: 4 })
  await add('new@example.com', 'unsubscribe', { day: 4 })
  const to = { email: 'new@example.com', at: march(5) }
  await carry(db, { accountId, email: 'old@example.com' }, to)
  assert.deepEqual(await listed(to.email), complaint)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../kernel/sql.ts'
import { countContacts } from '../contacts/queries.ts'
import type { Condition } from './condition-queries.ts'
import { readSegmentCount } from './count-queries.ts'
import { countBegun, countSegment, foldCounts } from './count-segment.ts'
import { account, app, base, create, db, get } from './fixtures/segments.ts'

const conditions: Condition[] = [
  { attribute: 'CITY', operator: 'eq', value: 'Paris' },
  { attribute: 'CITY', operator: 'neq', value: 'Paris' },
  { attribute: 'CITY', operator: 'contains', value: 'r' },
  { attribute: 'CITY', operator: 'in', value: ['Rome', 'Oslo'] },
  { attribute: 'CITY', operator: 'is_set', value: null },
  { attribute: 'CITY', operator: 'is_not_set', value: null },
  { attribute: 'AGE', operator: 'gt', value: 40 },
  { attribute: 'AGE', operator: 'lt', value: 10.5 },
  { attribute: 'BORN', operator: 'before', value: '2000-01-01' },
  { attribute: 'BORN', operator: 'after', value: '2000-01-01' },
  { attribute: 'LIKES', operator: 'contains', value: ['Tea'] },
  { attribute: 'LIKES', operator: 'in', value: ['Tea', 'Milk'] },
]

const pick = <T extends unknown[]>(...values: T): T[number] =>
  values[Math.floor(Math.random() * values.length)]

function randomValues(): string {
  return JSON.stringify({
    ...pick({}, { CITY: pick('Paris', 'Rome', 'Oslo', '', null, 7) }),
    ...pick({}, { AGE: pick(1, 10.5, 40, 41, 'old') }),
    ...pick({}, { BORN: pick('1999-12-31', '2000-01-01', '2024-02-29') }),
    ...pick({}, { LIKES: pick([], ['Tea'], ['Milk', 'Tea'], ['Coffee']) }),
  })
}

let made = 0

/** Whatever may happen to contacts, by one statement each. */
async function change(accountId: string): Promise<void> {
  const at = new Date()
  const some = sql`account_id = ${accountId} and id % 5 = ${Math.floor(Math.random() * 5)}`
  const kind = Math.random()
  if (kind < 0.5) {
    const rows = Array.from({ length: 1 + Math.floor(Math.random() * 20) }, randomValues)
    await db.run(sql`
      insert into contacts (account_id, email, attributes, created_at, modified_at)
      select ${accountId}, 'r' || ${++made}::int || '-' || n || '@example.com', v::jsonb, ${at}, ${at}
        from unnest(${rows}::text[]) with ordinality as r (v, n)`)
  } else if (kind < 0.8) {
    await db.run(sql`update contacts set attributes = ${randomValues()}, modified_at = ${at} where ${some}`)
  } else if (kind < 0.9) {
    await db.run(sql`update contacts set modified_at = ${at} where ${some}`)
  } else await db.run(sql`delete from contacts where ${some}`)
}

async function agree(accountId: string): Promise<void> {
  for (const condition of conditions) {
    const { is_counted, count } = await readSegmentCount(db, accountId, condition)
    const { count: recounted } = await countContacts(db, accountId, { segment: condition })
    assert.deepEqual([is_counted, count], [true, recounted], JSON.stringify(condition))
  }
}

test('the count kept is that of the contacts, after any changes, folded or not', async () => {
  const [one, other] = [await account(), await account()]
  for (let i = 0; i < 10; i++) await change(one.accountId)
  for (const condition of conditions) await create(one.key, condition)
  for (let round = 0; round < 8; round++) {
    for (let i = 0; i < 5; i++) await change(pick(one, other).accountId)
    await agree(one.accountId)
    if (round % 2 === 0) await db.transaction(foldCounts)
    await agree(one.accountId)
  }
})

test('an attribute that begins to be counted in the middle of writing is counted whole', async () => {
  const { accountId, key } = await account()
  let isWriting = true
  const writers = [1, 2, 3].map(async () => {
    while (isWriting) await change(accountId).catch(deadlocksAside)
  })
  const folder = (async () => {
    while (isWriting) await db.transaction(foldCounts)
  })()
  for (const condition of conditions) await create(key, condition)
  isWriting = false
  await Promise.all([...writers, folder])
  await agree(accountId)
})

// The writers of this test change the same rows in any order.
function deadlocksAside(error: { code?: string }): void {
  if (error.code !== '40P01') throw error
}

test('many contacts are counted in portions; what changes meanwhile is counted once', async () => {
  const { accountId, key } = await account()
  await db.run(sql`
    insert into contacts (account_id, email, attributes, created_at, modified_at)
    select ${accountId}, 'many' || n || '@example.com', jsonb_build_object('AGE', n % 50), now(), now()
      from generate_series(1, 11000) n`)
  const older: Condition = { attribute: 'AGE', operator: 'gt', value: 40 }
  const id = await create(key, older)
  const isCounted = async () => (await readSegmentCount(db, accountId, older)).is_counted
  const recount = async () => (await countContacts(db, accountId, { segment: older })).count
  assert.equal(await isCounted(), false)
  assert.equal((await get(key, `${base}/${id}/contacts?limit=1`)).count, await recount())
  // Some that are counted, some that are not, and some that are new.
  await db.run(sql`
    update contacts set attributes = '{"AGE": 41}' where account_id = ${accountId} and email like 'many%7@%'`)
  await db.run(sql`delete from contacts where account_id = ${accountId} and email like 'many%9@%'`)
  await change(accountId)
  await db.transaction(foldCounts)
  await countBegun(db, new AbortController().signal)
  assert.equal(await isCounted(), true)
  await db.run(
    sql`update contacts set attributes = '{}' where account_id = ${accountId} and email like 'many%3@%'`,
  )
  for (const folded of [false, true]) {
    if (folded) await db.transaction(foldCounts)
    assert.equal((await readSegmentCount(db, accountId, older)).count, await recount())
  }
})

test('a page tells the count of its segment, and the counts go with the last segment that asked', async () => {
  const { accountId, key } = await account()
  for (let i = 0; i < 5; i++) await change(accountId)
  const condition: Condition = { attribute: 'AGE', operator: 'is_not_set', value: null }
  const id = await create(key, condition)
  const expected = (await countContacts(db, accountId, { segment: condition })).count
  assert.equal((await get(key, `${base}/${id}/contacts?limit=1`)).count, expected)
  assert.equal((await get(key, `/v3/contacts?segmentId=${id}&limit=1`)).count, expected)
  await app.call('DELETE', `${base}/${id}`, { key })
  assert.equal((await readSegmentCount(db, accountId, condition)).is_counted, false)
  assert.equal(await countSegment(db, accountId, condition), expected)
})

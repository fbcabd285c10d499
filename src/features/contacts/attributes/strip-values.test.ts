import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { int, row } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { stripRemoved } from './strip-values.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools
const many = 12_000

const Count = row<{ count: number }>({ count: int })

async function crowd(attributes: object) {
  const { key, accountId } = await app.makeAccount()
  await db.run(sql`
    insert into contacts (account_id, email, attributes, created_at, modified_at)
    select ${accountId}, 'c' || n || '@example.com', ${JSON.stringify(attributes)}::jsonb, now(), now()
      from generate_series(1, ${many}) n`)
  const call = (method: string, path: string, body?: unknown) =>
    app.call(method, `/v3/contacts/attributes/${path}`, { key, body })
  const holding = async (part: object) => {
    const having = sql`attributes @> ${JSON.stringify(part)}::jsonb`
    const counted = sql`select count(*)::int as count from contacts where account_id = ${accountId} and ${having}`
    return (await db.one(Count, counted)).count
  }
  return { call, holding }
}

const strip = () => stripRemoved(db, new AbortController().signal)

test('an attribute of many is deleted at once, and its values leave in the background', async () => {
  const { call, holding } = await crowd({ TOWN: 'Ghent', AGE: 30 })
  assert.equal((await call('POST', 'normal/TOWN', { type: 'text' })).status, 201)
  assert.equal((await call('DELETE', 'normal/TOWN')).status, 204)
  assert.ok((await holding({ TOWN: 'Ghent' })) > 0)
  const again = await call('POST', 'normal/TOWN', { type: 'text' })
  assert.deepEqual([again.status, /still being taken away/.test(again.body.message)], [400, true])
  await Promise.all([strip(), strip()])
  await strip()
  assert.deepEqual([await holding({ TOWN: 'Ghent' }), await holding({ AGE: 30 })], [0, many])
  assert.equal((await call('POST', 'normal/TOWN', { type: 'text' })).status, 201)
})

test('so do a choice and a category, and what else is there stays', async () => {
  const { call, holding } = await crowd({ LIKES: ['Tea', 'Rum'], LEVEL: 2 })
  const options = ['Tea', 'Rum', 'Gin']
  assert.equal(
    (await call('POST', 'normal/LIKES', { type: 'multiple-choice', multiCategoryOptions: options })).status,
    201,
  )
  const enumeration = [1, 2].map((value) => ({ value, label: `L${value}` }))
  assert.equal((await call('POST', 'category/LEVEL', { enumeration })).status, 201)
  assert.equal((await call('DELETE', 'multiple-choice/LIKES/Tea')).status, 204)
  const kept = { enumeration: enumeration.slice(0, 1) }
  assert.equal((await call('PUT', 'category/LEVEL', kept)).status, 204)
  assert.equal((await call('PUT', 'category/LEVEL', { enumeration })).status, 400)
  await strip()
  const left = [
    await holding({ LIKES: ['Tea'] }),
    await holding({ LIKES: ['Rum'] }),
    await holding({ LEVEL: 2 }),
  ]
  assert.deepEqual(left, [0, many, 0])
})

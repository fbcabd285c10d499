import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import type { Ctx } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { compile, type Sql } from '../../../kernel/sql.ts'
import { type ContactsAsked, pageOfContacts } from './list-contacts.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })

const call = (method: string, path: string, body?: unknown) =>
  app.call(method, `/v3/contacts${path}`, { body })

test('a filter is by any attribute that a contact has; of several choices all named ones', async () => {
  const options = { type: 'multiple-choice', multiCategoryOptions: ['tea', 'rum', 'gin'] }
  await call('POST', '/attributes/normal/LIKES', options)
  await call('POST', '/attributes/normal/AGE', { type: 'float' })
  await call('POST', '/attributes/normal/VIP', { type: 'boolean' })
  const people: Record<string, object> = {
    anna: { LIKES: ['tea', 'rum'], AGE: 30, SMS: '+33612345678' },
    bob: { LIKES: ['tea'], AGE: 31, FIRSTNAME: 'tea' },
    cleo: { LIKES: ['gin', 'rum'], AGE: 30, VIP: true },
  }
  for (const [name, attributes] of Object.entries(people))
    await call('POST', '', { email: `${name}@example.com`, attributes })
  const found: [string, string[]][] = [
    ['equals(LIKES,"tea")', ['anna', 'bob']],
    ['equals(LIKES,"rum, Tea")', ['anna']],
    ['equals(AGE,"30.0")', ['anna', 'cleo']],
    ['equals(FIRSTNAME,"tea")', ['bob']],
    ['equals(VIP, true)', ['cleo']],
    ['equals(AGE, 31 )', ['bob']],
    ['equals(EMAIL," Bob@EXAMPLE.com")', ['bob']],
    ['equals(email,"nobody@example.com")', []],
    ['equals(SMS,"0033 612345678")', ['anna']],
  ]
  for (const [filter, names] of found) {
    const { status, body } = await call('GET', `?sort=asc&filter=${encodeURIComponent(filter)}`)
    assert.equal(status, 200, filter)
    const emails = body.contacts.map(({ email }: { email: string }) => email)
    assert.deepEqual([body.count, emails], [names.length, names.map((name) => `${name}@example.com`)], filter)
  }
})

/** The page, and what the contacts themselves were asked for it: each of these goes through them. */
async function walksFor(asked: ContactsAsked) {
  const walks: string[] = []
  const { db } = app.pools
  const note = (statement: Sql) => {
    const { text } = compile(statement)
    if (/ from contacts c\b/.test(text)) walks.push(text)
  }
  const many: Db['many'] = (shape, statement) => {
    note(statement)
    return db.many(shape, statement)
  }
  const one: Db['one'] = (shape, statement) => {
    note(statement)
    return db.one(shape, statement)
  }
  const ctx = { db: { ...db, many, one }, caller: { accountId: app.accountId }, cursorKey: Buffer.alloc(32) }
  const { rows, count } = await pageOfContacts(ctx as unknown as Ctx, asked)
  return { rows: rows.length, count, walks: walks.length }
}

test('contacts are gone through no more often than a page and its count need', async () => {
  await call('POST', '/attributes/normal/CITY', { type: 'text' })
  for (const name of ['dan', 'eve', 'fay'])
    await call('POST', '', { email: `${name}@example.com`, attributes: { CITY: 'Paris' } })
  const filter = 'equals(CITY,"Paris")'
  assert.deepEqual(await walksFor({ filter }), { rows: 3, count: 3, walks: 1 })
  assert.deepEqual(await walksFor({ filter, offset: 3 }), { rows: 0, count: 3, walks: 1 })
  assert.deepEqual(await walksFor({ filter, limit: 0 }), { rows: 0, count: 3, walks: 2 })
  const segment = { name: 'Paris', attribute: 'CITY', operator: 'eq', value: 'Paris' }
  const { body } = await app.call('POST', '/v3/segments', { body: segment })
  for (const one of [{ filter }, { segmentId: body.id }]) {
    assert.deepEqual(await walksFor({ ...one, limit: 2 }), { rows: 2, count: 3, walks: 1 })
    assert.deepEqual(await walksFor({ ...one, offset: 1 }), { rows: 2, count: 3, walks: 1 })
    assert.deepEqual(await walksFor({ ...one, offset: 3 }), { rows: 0, count: 3, walks: 0 })
  }
})

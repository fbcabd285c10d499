import assert from 'node:assert/strict'
import { before, beforeEach, describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { int, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'

const app = await makeApp({
  env: { POSTHORN_RATE_LIMIT_FACTOR: '100' },
})
const base = '/v3/contacts/lists'
const { db } = app.pools

const Id = row<{ id: string }>({ id: text })
const at = new Date('2026-11-01T10:00:00Z')

let next = 0
async function contact(accountId = app.accountId, modifiedAt = at) {
  const email = `one${++next}@example.com`
  const extId = `ext-${next}`
  const { id } = await db.one(
    Id,
    sql`
    insert into contacts (account_id, email, ext_id, created_at, modified_at)
    values (${accountId}, ${email}, ${extId}, ${at}, ${modifiedAt}) returning id`,
  )
  return { id: Number(id), email, extId }
}

async function list(key = app.key): Promise<number> {
  return (await app.call('POST', base, { key, body: { name: 'List' } })).body.id
}

const change = (how: 'add' | 'remove') => (id: number, body: object, key?: string) =>
  app.call('POST', `${base}/${id}/contacts/${how}`, { key: key ?? app.key, body })
const add = change('add')
const remove = change('remove')

async function countOf(id: number, key = app.key) {
  const { body } = await app.call('GET', `${base}/${id}`, { key })
  const { body: page } = await app.call('GET', `${base}/${id}/contacts`, { key })
  assert.deepEqual([body.totalSubscribers, page.count], [body.uniqueSubscribers, page.contacts.length])
  return body.uniqueSubscribers
}

type Person = Awaited<ReturnType<typeof contact>>
let people: [Person, Person, Person]
let listId: number

before(async () => {
  people = [await contact(), await contact(), await contact()]
})
beforeEach(async () => {
  listId = await list()
})

describe('contacts are put on a list', () => {
  test('by address, in any case, by number and by the customer’s identifier', async () => {
    const [a, b, c] = people
    const mixed = ` ${a.email.toUpperCase()}`
    const byEmail = await add(listId, { emails: [mixed, 'nobody@example.com', 'no address'] })
    assert.deepEqual(
      [byEmail.status, byEmail.body],
      [
        201,
        {
          contacts: { success: [mixed], failure: ['nobody@example.com', 'no address'] },
        },
      ],
    )
    const byId = await add(listId, { ids: [b.id, a.id, 999_999, Number.MAX_SAFE_INTEGER], emails: [] })
    assert.deepEqual(byId.body.contacts, {
      success: [b.id],
      failure: [a.id, 999_999, Number.MAX_SAFE_INTEGER],
    })
    const byExtId = await add(listId, { extIds: [c.extId, 'x'], emails: null, ids: null })
    assert.deepEqual(byExtId.body.contacts, { success: [c.extId], failure: ['x'] })
    assert.equal(await countOf(listId), 3)
    const { body } = await app.call('GET', `${base}/${listId}/contacts`)
    assert.deepEqual(
      body.contacts.map((one: { id: number; listIds: number[] }) => [one.id, one.listIds.includes(listId)]),
      [c, b, a].map(({ id }) => [id, true]),
    )
  })

  test('once, however often they are named', async () => {
    const { id, email } = people[0]
    const twice = await add(listId, { emails: [email, email] })
    assert.deepEqual(twice.body.contacts, { success: [email, email], failure: [] })
    assert.equal(await countOf(listId), 1)
    for (const body of [{ emails: [email] }, { ids: [id] }, { extIds: ['nobody'] }]) {
      const again = await add(listId, body)
      assert.deepEqual(
        [again.status, again.body.code, again.body.message],
        [400, 'invalid_parameter', 'Contact already in list and/or does not exist'],
      )
    }
    assert.equal(await countOf(listId), 1)
  })

  test('at the same time by several callers', async () => {
    const ids = people.map(({ id }) => id)
    const replies = await Promise.all([1, 2, 3, 4, 5, 6].map(() => add(listId, { ids })))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 400, 400, 400, 400, 400])
    assert.equal(await countOf(listId), 3)
  })

  test('and have changed with it, as when they are taken off', async () => {
    const [before, started] = [new Date('2020-01-01'), new Date()]
    const [person, bystander] = [await contact(undefined, before), await contact(undefined, before)]
    const modified = async () =>
      (await app.call('GET', `/v3/contacts?modifiedSince=${started.toISOString()}`)).body.contacts
        .map(({ id }: Person) => id)
        .filter((id: number) => id === person.id || id === bystander.id)
    const setBack = () =>
      db.run(sql`
        update contacts set modified_at = ${before} where account_id = ${app.accountId} and id = ${person.id}`)
    assert.deepEqual(await modified(), [])
    await add(listId, { ids: [person.id, 999_999] })
    assert.deepEqual(await modified(), [person.id])
    await setBack()
    assert.equal((await add(listId, { ids: [person.id] })).status, 400)
    assert.deepEqual(await modified(), [])
    await remove(listId, { emails: [person.email] })
    assert.deepEqual(await modified(), [person.id])
  })

  test('and have then not left it any more', async () => {
    const { id, email } = people[0]
    const other = await list()
    await db.run(sql`
      insert into list_unsubscriptions (account_id, list_id, contact_id, at)
      values (${app.accountId}, ${listId}, ${id}, ${at}), (${app.accountId}, ${other}, ${id}, ${at})`)
    await add(listId, { emails: [email] })
    const { body } = await app.call('GET', `${base}/${listId}/contacts`)
    assert.deepEqual(body.contacts[0].listUnsubscribed, [other])
  })

  test('150 at a time, of one kind, and refused otherwise', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => i + 1_000_000)
    assert.equal((await add(listId, { ids: [...many(149), people[0].id] })).status, 201)
    const refused: [object, string][] = [
      [{ ids: many(151) }, 'invalid_parameter'],
      [{ emails: many(151).map(String) }, 'invalid_parameter'],
      [{ ids: [1], emails: ['a@example.com'] }, 'invalid_parameter'],
      [{ ids: [2 ** 53] }, 'invalid_parameter'],
      [{ ids: ['x'] }, 'invalid_parameter'],
      [{ ids: [-1] }, 'invalid_parameter'],
      [{ emails: 'a@example.com' }, 'invalid_parameter'],
      [{ emails: [{}] }, 'invalid_parameter'],
      [{ emails: { a: 1 } }, 'invalid_parameter'],
      [{}, 'missing_parameter'],
      [{ ids: [] }, 'missing_parameter'],
      [{ all: true }, 'missing_parameter'],
    ]
    for (const [body, code] of refused) {
      const reply = await add(listId, body)
      assert.deepEqual([reply.status, reply.body.code], [400, code], JSON.stringify(body).slice(0, 80))
    }
    for (const id of [999_999, 0]) assert.equal((await add(id, { ids: [people[0].id] })).status, 404)
  })
})

describe('contacts are taken off a list', () => {
  test('one by one, and all at once', async () => {
    const [a, b, c] = people
    await add(listId, { ids: [a.id, b.id, c.id] })
    const removed = await remove(listId, { emails: [a.email, 'nobody@example.com'] })
    assert.deepEqual(
      [removed.status, removed.body],
      [201, { contacts: { success: [a.email], failure: ['nobody@example.com'] } }],
    )
    assert.equal(await countOf(listId), 2)
    const again = await remove(listId, { ids: [a.id] })
    assert.deepEqual([again.status, again.body.code], [400, 'invalid_parameter'])
    const all = await remove(listId, { all: true })
    const { processId } = all.body.contacts
    assert.deepEqual([all.status, all.body], [201, { contacts: { total: 2, processId } }])
    const { body: process } = await app.call('GET', `/v3/processes/${processId}`)
    assert.deepEqual([process.name, process.status, process.info], ['REMOVECONTACTS', 'completed', {}])
    assert.equal(await countOf(listId), 0)
    assert.equal((await remove(listId, { all: true })).body.contacts.total, 0)
    for (const body of [{}, { all: false }]) {
      assert.equal((await remove(listId, body)).body.code, 'missing_parameter')
    }
    assert.equal((await remove(listId, { all: true, ids: [a.id] })).body.code, 'invalid_parameter')
    assert.equal((await remove(999_999, { all: true })).status, 404)
  })

  test('of that list only', async () => {
    const other = await list()
    for (const id of [listId, other]) await add(id, { ids: [people[0].id] })
    await remove(listId, { all: true })
    assert.deepEqual([await countOf(listId), await countOf(other)], [0, 1])
  })

  test('when they are deleted, and counted off every list', async () => {
    const other = await list()
    const [gone, stays] = [await contact(), people[0]]
    for (const id of [listId, other]) await add(id, { ids: [gone.id, stays.id] })
    await db.run(sql`delete from contacts where account_id = ${app.accountId} and id = ${gone.id}`)
    assert.deepEqual([await countOf(listId), await countOf(other)], [1, 1])
  })
})

test('a deleted list leaves its contacts, and no count', async () => {
  await add(listId, { ids: people.map(({ id }) => id) })
  const Count = row<{ count: number }>({ count: int })
  const counted = (id: number) =>
    db.one(
      Count,
      sql`
      select count(*)::int as count from contact_counts where account_id = ${app.accountId} and list_id = ${id}`,
    )
  assert.equal((await counted(listId)).count, 1)
  assert.equal((await app.call('DELETE', `${base}/${listId}`)).status, 204)
  assert.equal((await counted(listId)).count, 0)
  assert.equal((await counted(0)).count, 1)
  assert.equal((await app.call('GET', `${base}/${listId}/contacts`)).status, 404)
  const left = await list()
  await add(left, { ids: people.map(({ id }) => id) })
  assert.equal(await countOf(left), 3)
  const { body } = await app.call('GET', `${base}/${left}/contacts`)
  for (const one of body.contacts) assert.ok(!one.listIds.includes(listId))
})

test('a list deleted while contacts are put on it keeps the counts right', async () => {
  const ids = people.map(({ id }) => id)
  const [added, deleted] = await Promise.all([add(listId, { ids }), app.call('DELETE', `${base}/${listId}`)])
  assert.equal(deleted.status, 204)
  assert.ok([201, 404].includes(added.status), added.text)
  const rows = await db.many(
    Id,
    sql`select list_id as id from contact_counts where account_id = ${app.accountId} and list_id = ${listId}`,
  )
  assert.deepEqual(rows, [])
})

test('the contacts of a list come by pages, newest first, and since a time', async () => {
  const { accountId, key } = await app.makeAccount()
  const own = await list(key)
  const made: Person[] = []
  for (let day = 1; day <= 5; day++) {
    made.push(await contact(accountId, new Date(`2026-11-0${day}T10:00:00Z`)))
  }
  const ids = made.map(({ id }) => id)
  // Not by the operation, which would change them now.
  await db.run(sql`
    insert into list_members (account_id, list_id, contact_id, added_at)
    select ${accountId}, ${own}, id, ${at} from unnest(${ids}::bigint[]) id`)
  const get = async (query = '') => (await app.call('GET', `${base}/${own}/contacts${query}`, { key })).body
  const idsOf = (body: { contacts: { id: number }[] }) => body.contacts.map(({ id }) => id)
  assert.deepEqual(idsOf(await get()), ids.toReversed())
  assert.deepEqual(idsOf(await get('?sort=asc&offset=3')), ids.slice(3))
  const seen: number[] = []
  let cursor = ''
  do {
    const page = await get(`?limit=2&sort=asc&cursor=${cursor}`)
    assert.equal(page.count, 5)
    seen.push(...idsOf(page))
    cursor = page.next_cursor ?? ''
  } while (cursor)
  assert.deepEqual(seen, ids)
  const since: [string, number][] = [
    ['2026-11-03T10:00:00Z', 3],
    ['2026-11-03T12:00:00.000%2B02:00', 3],
    ['2026-11-03T12:00:00+02:00', 3],
    ['2026-11-03T12:00:01%2B0200', 2],
    ['2026-11-04', 2],
    ['2026-11-04%2010:00', 2],
    ['0000-01-01', 5],
    ['9999-12-31', 0],
  ]
  for (const [time, count] of since) {
    const page = await get(`?modifiedSince=${time}`)
    assert.deepEqual([page.count, page.contacts?.length], [count, count], time)
  }
  const page = await get('?limit=1&modifiedSince=2026-11-04')
  assert.deepEqual(idsOf(await get(`?limit=1&modifiedSince=2026-11-04&cursor=${page.next_cursor}`)), [ids[3]])
  assert.equal((await get(`?limit=1&cursor=${page.next_cursor}`)).code, 'invalid_parameter')
  for (const time of ['yesterday', '2026-13-01', '2026-11-03T99:00', '%00', '12'])
    assert.equal((await get(`?modifiedSince=${time}`)).code, 'invalid_parameter', time)
  for (const query of ['?limit=501', '?limit=-1', '?offset=-1'])
    assert.equal((await get(query)).code, 'out_of_range')
})

test('another account’s lists and contacts do not exist', async () => {
  const theirs = await app.makeAccount()
  const person = await contact(theirs.accountId)
  await add(listId, { ids: [people[0].id] })
  for (const body of [{ ids: [person.id] }, { emails: [person.email] }, { extIds: [person.extId] }]) {
    assert.equal((await add(listId, body)).status, 400)
    assert.equal((await add(listId, body, theirs.key)).status, 404)
    assert.equal((await remove(listId, body, theirs.key)).status, 404)
  }
  assert.equal((await remove(listId, { all: true }, theirs.key)).status, 404)
  assert.equal((await app.call('GET', `${base}/${listId}/contacts`, { key: theirs.key })).status, 404)
  assert.equal((await app.call('DELETE', `${base}/${listId}`, { key: theirs.key })).status, 404)
  assert.equal(await countOf(listId), 1)
})

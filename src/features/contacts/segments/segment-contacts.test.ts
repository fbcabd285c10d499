import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../../kernel/sql.ts'
import { account, app, base, create, db, get } from './fixtures/segments.ts'

const at = new Date('2026-11-01T10:00:00Z')

const people: Record<string, object> = {
  anna: { CITY: 'Paris', AGE: 30, BORN: '1996-02-29', VIP: true, LEVEL: 1, LIKES: ['Tea', 'Milk'] },
  bob: { CITY: 'San paris 100%', AGE: 9.5, BORN: '2017-01-01', VIP: false, LEVEL: 2, LIKES: ['Coffee'] },
  cleo: { CITY: '_', AGE: -1, BORN: '1996-03-01', VIP: true, ORDER_ID: '7', LIKES: [] },
  none: {},
  // Of types that the attributes had before.
  odd: { CITY: 3, AGE: 'forty', BORN: 1996, VIP: 'true', LEVEL: 'Gold', LIKES: 'Tea' },
}

async function addPeople(accountId: string, who: Record<string, object> = people) {
  for (const [name, values] of Object.entries(who)) {
    const sms = name === 'anna' ? '33612345678' : null
    await db.run(sql`
      insert into contacts (account_id, email, sms, attributes, created_at, modified_at)
      values (${accountId}, ${`${name}@example.com`}, ${sms}, ${JSON.stringify(values)}, ${at}, ${at})`)
  }
}

type Emails = { contacts: { email: string }[] }
const namesOf = ({ contacts }: Emails) => contacts.map(({ email }) => email.replace('@example.com', ''))

describe('the contacts of a segment', async () => {
  const { accountId, key } = await account()
  await addPeople(accountId)
  const everybody = Object.keys(people)
  const but = (...names: string[]) => everybody.filter((name) => !names.includes(name))

  const found: [string, string, unknown, string[]][] = [
    ['CITY', 'eq', 'Paris', ['anna']],
    ['CITY', 'eq', 3, []],
    ['city', 'neq', 'Paris', but('anna')],
    ['CITY', 'contains', 'PARIS', ['anna', 'bob']],
    ['CITY', 'contains', '%', ['bob']],
    ['CITY', 'contains', '_', ['cleo']],
    ['CITY', 'in', ['Paris', '_', 'Rome', 'x"y\\'], ['anna', 'cleo']],
    ['CITY', 'in', 'Paris', ['anna']],
    ['CITY', 'is_set', undefined, but('none')],
    ['CITY', 'is_not_set', 'ignored', ['none']],
    ['AGE', 'eq', '30.0', ['anna']],
    ['AGE', 'eq', '9,5', ['bob']],
    ['AGE', 'neq', 30, but('anna')],
    ['AGE', 'gt', 9.5, ['anna']],
    ['AGE', 'gt', 9, ['anna', 'bob']],
    ['AGE', 'lt', 10, ['bob', 'cleo']],
    ['AGE', 'lt', '-1', []],
    ['AGE', 'in', [30, '-1'], ['anna', 'cleo']],
    ['AGE', 'is_set', null, but('none')],
    ['BORN', 'eq', '1996-02-29T10:00:00Z', ['anna']],
    ['BORN', 'neq', '1996-02-29', but('anna')],
    ['BORN', 'before', '1996-03-01', ['anna']],
    ['BORN', 'after', '1996-02-29', ['bob', 'cleo']],
    ['BORN', 'gt', '2016-12-31', ['bob']],
    ['BORN', 'lt', '9999-12-31', ['anna', 'bob', 'cleo']],
    ['BORN', 'in', ['2017-01-01', '1996-03-01'], ['bob', 'cleo']],
    ['BORN', 'is_not_set', null, ['none']],
    ['VIP', 'eq', 'yes', ['anna', 'cleo']],
    ['VIP', 'eq', false, ['bob']],
    ['VIP', 'neq', true, but('anna', 'cleo')],
    ['VIP', 'in', [true, false], ['anna', 'bob', 'cleo']],
    ['LEVEL', 'eq', 'gold', ['bob']],
    ['LEVEL', 'neq', 2, but('bob')],
    ['LEVEL', 'in', ['Bronze', 2], ['anna', 'bob']],
    ['LEVEL', 'is_not_set', null, ['cleo', 'none']],
    ['LIKES', 'eq', ['milk', 'tea'], ['anna']],
    ['LIKES', 'eq', 'Tea', []],
    ['LIKES', 'neq', ['Tea', 'Milk'], but('anna')],
    ['LIKES', 'contains', 'tea', ['anna']],
    ['LIKES', 'contains', ['Tea', 'Coffee'], []],
    ['LIKES', 'in', ['Milk', 'Coffee'], ['anna', 'bob']],
    ['LIKES', 'is_set', null, ['anna', 'bob', 'odd']],
    ['LIKES', 'is_not_set', null, ['cleo', 'none']],
    ['ORDER_ID', 'eq', 7, ['cleo']],
    ['ORDER_ID', 'neq', 7, but('cleo')],
    ['ORDER_ID', 'is_not_set', null, but('cleo')],
    ['EMAIL', 'eq', ' Anna@EXAMPLE.com', ['anna']],
    ['EMAIL', 'neq', 'anna@example.com', but('anna')],
    ['email', 'contains', 'O', everybody],
    ['EMAIL', 'contains', 'NN', ['anna']],
    ['EMAIL', 'in', ['anna@example.com', 'bob@example.com'], ['anna', 'bob']],
    ['EMAIL', 'is_not_set', null, []],
    ['SMS', 'eq', '+33 6 12 34 56 78', ['anna']],
    ['SMS', 'neq', '33612345678', but('anna')],
    ['SMS', 'contains', '1234', ['anna']],
    ['SMS', 'in', ['0033612345678', '1'], ['anna']],
    ['SMS', 'is_set', null, ['anna']],
    ['SMS', 'is_not_set', null, but('anna')],
    ['FIRSTNAME', 'neq', "'; drop table contacts; --", everybody],
  ]
  for (const [attribute, operator, value, names] of found) {
    test(`are those whose ${attribute} ${operator} ${JSON.stringify(value)}`, async () => {
      const id = await create(key, { attribute, operator, value })
      const page = await get(key, `${base}/${id}/contacts`)
      const expected = everybody.filter((name) => names.includes(name)).toReversed()
      assert.deepEqual([namesOf(page), page.count], [expected, expected.length])
      const listed = await get(key, `/v3/contacts?segmentId=${id}`)
      assert.deepEqual([namesOf(listed), listed.count], [expected, expected.length])
    })
  }

  test('are found at each call', async () => {
    const id = await create(key, { attribute: 'CITY', operator: 'eq', value: 'Rome' })
    assert.deepEqual(namesOf(await get(key, `${base}/${id}/contacts`)), [])
    await addPeople(accountId, { rita: { CITY: 'Rome' } })
    assert.deepEqual(namesOf(await get(key, `${base}/${id}/contacts`)), ['rita'])
    await db.run(sql`delete from contacts where account_id = ${accountId} and email = 'rita@example.com'`)
    assert.equal((await get(key, `${base}/${id}/contacts`)).count, 0)
  })

  test('come by pages', async () => {
    const many = await account()
    const names = ['p1', 'p2', 'p3', 'p4', 'p5']
    await addPeople(many.accountId, Object.fromEntries(names.map((name) => [name, { AGE: 5 }])))
    await addPeople(many.accountId, { q: { AGE: 6 } })
    const id = await create(many.key, { attribute: 'AGE', operator: 'lt', value: 6 })
    const page = (query: string) => get(many.key, `${base}/${id}/contacts${query}`)
    const first = await page('?limit=2')
    assert.deepEqual([first.count, namesOf(first)], [5, ['p5', 'p4']])
    const second = await page(`?limit=2&cursor=${first.next_cursor}`)
    assert.deepEqual([second.count, namesOf(second)], [5, ['p3', 'p2']])
    const third = await page(`?limit=2&cursor=${second.next_cursor}`)
    assert.deepEqual([namesOf(third), third.next_cursor], [['p1'], null])
    assert.deepEqual(namesOf(await page('?sort=asc&offset=1&limit=2')), ['p2', 'p3'])
    for (const query of ['?limit=1', '?offset=4', '?offset=9']) assert.equal((await page(query)).count, 5)
    await app.call('PUT', `${base}/${id}`, { key: many.key, body: { value: 7 } })
    assert.equal((await page(`?limit=2&cursor=${first.next_cursor}`)).code, 'invalid_parameter')
    for (const query of ['?limit=201', '?limit=0', '?limit=-1', '?offset=-1'])
      assert.equal((await page(query)).code, 'out_of_range')
  })
})

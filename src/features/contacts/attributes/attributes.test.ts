import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { sql } from '../../../kernel/sql.ts'
import { readValue, writeList } from './values.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })

type Body = Record<string, unknown>

const put = (who: string, body: Body) => app.call('PUT', `/v3/contacts/${who}`, { body })
const get = async (who: string, key = app.key) => (await app.call('GET', `/v3/contacts/${who}`, { key })).body

let made = 0
async function make(body: Body, key = app.key): Promise<{ email: string }> {
  const email = `person${++made}@example.com`
  const { status, text } = await app.call('POST', '/v3/contacts', { key, body: { email, ...body } })
  assert.equal(status, 201, text)
  return { email }
}

describe('attributes', () => {
  const declare = (path: string, body: Body, key = app.key) =>
    app.call('POST', `/v3/contacts/attributes/${path}`, { key, body })

  test('are declared with a type, which their values keep to', async () => {
    assert.equal((await declare('normal/AGE', { type: 'float' })).status, 201)
    assert.equal((await declare('normal/BORN', { type: 'date' })).status, 201)
    assert.equal((await declare('normal/VIP', { type: 'boolean' })).status, 201)
    const enumeration = [
      { value: 1, label: 'Blue' },
      { value: 2, label: 'Red' },
    ]
    assert.equal((await declare('category/COLOUR', { enumeration })).status, 201)
    assert.equal(
      (await declare('normal/LIKES', { type: 'multiple-choice', multiCategoryOptions: ['tea', 'rum'] }))
        .status,
      201,
    )
    const attributes = { AGE: '41,5', BORN: '1985-02-28', VIP: 'yes', COLOUR: 'red', LIKES: ['Tea'] }
    const { email } = await make({ attributes })
    assert.deepEqual((await get(email)).attributes, {
      AGE: 41.5,
      BORN: '1985-02-28',
      VIP: true,
      COLOUR: 2,
      LIKES: ['tea'],
    })
    for (const [name, value] of Object.entries({
      AGE: 'old',
      BORN: '1985-02-30',
      VIP: 'x',
      COLOUR: 'green',
      LIKES: 'gin',
    })) {
      const refused = await put(email, { attributes: { [name]: value } })
      assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_parameter'], name)
    }
  })

  test('have one name each, and a type that fits their category', async () => {
    await declare('normal/ONE', { type: 'text' })
    assert.equal(
      (await declare('transactional/one', { type: 'text' })).body.message,
      'Attribute name must be unique',
    )
    assert.equal(
      (await declare('normal/EMAIL', { type: 'text' })).body.message,
      'Attribute name must be unique',
    )
    assert.equal((await declare('normal/TWO', {})).body.message, 'No inputs in the body')
    assert.equal((await declare('normal/TWO', { type: 'id' })).status, 400)
    assert.equal((await declare('normal/2%00', { type: 'text' })).status, 400)
    assert.equal((await declare('nowhere/TWO', { type: 'text' })).status, 400)
    assert.equal((await declare('calculated/SUM', { value: 'SUM[AGE]' })).status, 201)
  })

  test('that every contact has are listed, and stay', async () => {
    const { attributes } = (await app.call('GET', '/v3/contacts/attributes')).body
    assert.deepEqual(attributes.slice(0, 2), [
      { name: 'EMAIL', category: 'normal', type: 'text' },
      { name: 'SMS', category: 'normal', type: 'text' },
    ])
    const kept = await app.call('DELETE', '/v3/contacts/attributes/normal/SMS')
    assert.deepEqual([kept.status, /SMS is of every contact/.test(kept.body.message)], [400, true])
  })

  test('are listed, changed and deleted with their values', async () => {
    const { key } = await app.makeAccount()
    await declare('normal/GONE', { type: 'text' }, key)
    await declare('category/SIZE', { enumeration: [{ value: 1, label: 'S' }] }, key)
    const { email } = await make({ attributes: { GONE: 'x', SIZE: 1 } }, key)
    const change = {
      enumeration: [
        { value: 1, label: 'Small' },
        { value: 2, label: 'Large' },
      ],
    }
    assert.equal(
      (await app.call('PUT', '/v3/contacts/attributes/category/SIZE', { key, body: change })).status,
      204,
    )
    assert.equal((await app.call('DELETE', '/v3/contacts/attributes/normal/GONE', { key })).status, 204)
    assert.equal((await app.call('DELETE', '/v3/contacts/attributes/normal/GONE', { key })).status, 404)
    assert.deepEqual((await get(email, key)).attributes, { SIZE: 1 })
    const { attributes } = (await app.call('GET', '/v3/contacts/attributes', { key })).body
    assert.deepEqual(
      attributes.map(({ name, type }: Body) => `${name} ${type}`),
      ['EMAIL text', 'SMS text', 'FIRSTNAME text', 'LASTNAME text', 'SIZE undefined'],
    )
    assert.deepEqual(attributes[4].enumeration[1], { value: 2, label: 'Large', valueStr: '2' })
  })
})

test('a choice is deleted with the values that contacts have of it; the last one stays', async () => {
  const { key } = await app.makeAccount()
  const call = (method: string, path: string, body?: Body) =>
    app.call(method, `/v3/contacts${path}`, { key, body })
  const choices = { type: 'multiple-choice', multiCategoryOptions: ['red', 'blue'] }
  await call('POST', '/attributes/normal/HUES', choices)
  const [both, one] = [await make({}, key), await make({}, key)]
  await call('PUT', `/${both.email}`, { attributes: { HUES: ['red', 'blue'] } })
  await call('PUT', `/${one.email}`, { attributes: { HUES: ['red'] } })
  const remove = async (option: string) =>
    (await call('DELETE', `/attributes/multiple-choice/HUES/${option}`)).status
  assert.deepEqual([await remove('red'), await remove('red'), await remove('blue')], [204, 404, 400])
  const values = [(await get(both.email, key)).attributes.HUES, (await get(one.email, key)).attributes.HUES]
  assert.deepEqual(values, [['blue'], undefined])
})

test('options are added to those there are, and contacts keep theirs', async () => {
  const { key } = await app.makeAccount()
  const path = '/v3/contacts/attributes/normal/HUES'
  const call = (method: string, body: Body) => app.call(method, path, { key, body })
  await call('POST', { type: 'multiple-choice', multiCategoryOptions: ['red', 'blue'] })
  const { email } = await make({ attributes: { HUES: ['red'] } }, key)
  assert.equal((await call('PUT', { multiCategoryOptions: ['green', 'blue'] })).status, 204)
  const { attributes } = (await app.call('GET', '/v3/contacts/attributes', { key })).body
  const { multiCategoryOptions } = attributes.find(({ name }: { name: string }) => name === 'HUES')
  assert.deepEqual(multiCategoryOptions, ['red', 'blue', 'green'])
  assert.deepEqual((await get(email, key)).attributes.HUES, ['red'])
  const more = Array.from({ length: 998 }, (_, i) => `hue ${i}`)
  const tooMany = await call('PUT', { multiCategoryOptions: more })
  assert.deepEqual([tooMany.status, tooMany.body.code], [400, 'invalid_parameter'])
})

test('a category is taken out with the values that contacts have of it', async () => {
  const { key } = await app.makeAccount()
  const path = '/v3/contacts/attributes/category/RANK'
  const [low, mid, high] = ['Low', 'Mid', 'High'].map((label, i) => ({ value: i + 1, label }))
  await app.call('POST', path, { key, body: { enumeration: [low, mid, high] } })
  const people = [await make({ attributes: { RANK: 1 } }, key), await make({ attributes: { RANK: 2 } }, key)]
  const change = async (enumeration: unknown[]) =>
    (await app.call('PUT', path, { key, body: { enumeration } })).status
  assert.equal(await change([{ value: 1, label: 'Lowest' }, high]), 204)
  const ranks = await Promise.all(people.map(async ({ email }) => (await get(email, key)).attributes.RANK))
  assert.deepEqual(ranks, [1, undefined])
})

test('choices are the same in either form of Unicode', async () => {
  const { key } = await app.makeAccount()
  const [composed, apart] = ['Été'.normalize('NFC'), 'Été'.normalize('NFD')]
  const call = (method: string, path: string, body?: Body) =>
    app.call(method, `/v3/contacts/attributes/${path}`, { key, body })
  await call('POST', 'category/SEASON', { enumeration: [{ value: 1, label: apart }] })
  const options = { type: 'multiple-choice', multiCategoryOptions: [apart, composed, 'Hiver'] }
  await call('POST', 'normal/SEASONS', options)
  for (const form of [composed, apart]) {
    const { email } = await make({ attributes: { SEASON: form, SEASONS: [form] } }, key)
    assert.deepEqual((await get(email, key)).attributes, { SEASON: 1, SEASONS: [composed] })
  }
  const removed = await call('DELETE', `multiple-choice/SEASONS/${encodeURIComponent(apart)}`)
  assert.equal(removed.status, 204)
})

test('texts and tags are the same in either form of Unicode', async () => {
  const { key, accountId } = await app.makeAccount()
  const [composed, apart] = ['Köln'.normalize('NFC'), 'Köln'.normalize('NFD')]
  for (const form of [composed, apart]) await make({ attributes: { LASTNAME: form } }, key)
  const call = (method: string, path: string, body?: Body) => app.call(method, `/v3${path}`, { key, body })
  for (const value of [composed, apart]) {
    const { body } = await call('POST', '/segments', {
      name: 'K',
      attribute: 'LASTNAME',
      operator: 'eq',
      value,
    })
    assert.equal((await call('GET', `/segments/${body.id}/contacts`)).body.count, 2)
    const filter = encodeURIComponent(`equals(LASTNAME,"${value}")`)
    assert.equal((await call('GET', `/contacts?filter=${filter}`)).body.count, 2)
  }
  const { email } = await make({}, key)
  const tagged = await call('POST', `/contacts/${email}/tags`, { tags: [composed, apart] })
  assert.deepEqual(tagged.body.tags, [composed])
  await app.pools.db.run(sql`
    update contacts set tags = array[${apart}::text] where account_id = ${accountId} and email = ${email}`)
  assert.deepEqual((await call('DELETE', `/contacts/${email}/tags`, { tags: [apart] })).body.tags, [])
})

test('choices with commas, quotes and semicolons are read as they are written', () => {
  const options = ['Chess; Go', 'a,b', 'a', 'b', 'say "hi"', '"q", x']
  const attribute = { name: 'X', category: 'normal', type: 'multiple-choice', enumeration: null, options }
  const read = (given: unknown) => readValue(attribute as Parameters<typeof readValue>[0], given)
  for (const chosen of [['Chess; Go', 'a,b'], ['a', 'b'], ['a,b'], ['say "hi"', '"q", x'], options])
    assert.deepEqual(read(writeList(chosen)), { value: chosen })
  assert.deepEqual(read(' b , A '), { value: ['b', 'a'] })
  assert.ok('fault' in read('a,,b'))
})

test('no value that JSON can hold makes reading it fail', () => {
  const odd: unknown[] = [
    {},
    { toString: 1 },
    [],
    [[]],
    [{ toString: null }],
    true,
    Number.POSITIVE_INFINITY,
    'x'.repeat(60_000),
    Number.NaN,
  ]
  for (const type of [
    'text',
    'date',
    'float',
    'boolean',
    'id',
    'category',
    'multiple-choice',
    'user',
    null,
  ] as const)
    for (const value of odd) {
      const read = readValue({ name: 'X', category: 'normal', type, enumeration: [], options: [] }, value)
      assert.ok('fault' in read || 'value' in read)
    }
})

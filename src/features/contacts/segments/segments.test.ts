import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { account, app, base, create, get } from './fixtures/segments.ts'

describe('segments', async () => {
  const { key } = await account()
  const call = (method: string, path: string, body?: object) => app.call(method, path, { key, body })

  test('are created, read, changed and deleted', async () => {
    const id = await create(key, {
      name: 'Old',
      categoryName: 'Age',
      attribute: 'age',
      operator: 'gt',
      value: '60',
    })
    const read = async () => {
      const { id: own, updatedAt, ...rest } = await get(key, `${base}/${id}`)
      assert.deepEqual([own, typeof updatedAt], [id, 'string'])
      return rest
    }
    const made = { segmentName: 'Old', categoryName: 'Age', attribute: 'AGE', operator: 'gt', value: 60 }
    assert.deepEqual(await read(), made)
    const changes: [object, object][] = [
      [{ name: 'Older', attribute: null }, { segmentName: 'Older' }],
      [
        { value: 70, categoryName: null },
        { value: 70, categoryName: '' },
      ],
      [{ operator: 'in' }, { operator: 'in', value: [70] }],
      [{ operator: 'is_set' }, { operator: 'is_set', value: null }],
      [
        { attribute: 'LEVEL', operator: 'eq', value: 'Gold' },
        { attribute: 'LEVEL', operator: 'eq', value: 2 },
      ],
      [{}, {}],
    ]
    let expected: object = made
    for (const [body, change] of changes) {
      const reply = await call('PUT', `${base}/${id}`, body)
      assert.deepEqual([reply.status, reply.text], [204, ''], reply.text)
      expected = { ...expected, ...change }
      assert.deepEqual(await read(), expected)
    }
    const misfit = await call('PUT', `${base}/${id}`, { operator: 'gt' })
    assert.deepEqual([misfit.status, misfit.body.code], [400, 'invalid_parameter'])
    assert.equal((await call('DELETE', `${base}/${id}`)).status, 204)
    for (const path of ['', '/contacts']) {
      const gone = await call('GET', `${base}/${id}${path}`)
      assert.deepEqual([gone.status, gone.body.code], [404, 'document_not_found'])
    }
    assert.equal((await call('DELETE', `${base}/${id}`)).status, 404)
    assert.equal((await call('PUT', `${base}/${id}`, { name: 'x' })).status, 404)
    for (const bad of ['x', '-1', '9007199254740993', '%00'])
      assert.equal((await call('GET', `${base}/${bad}/contacts`)).status, 400, bad)
  })

  test('are listed by pages at both places, newest first', async () => {
    const own = await account()
    const ids: number[] = []
    for (let i = 0; i < 11; i++) ids.push(await create(own.key, { attribute: 'EMAIL', operator: 'is_set' }))
    const newest = ids.toReversed()
    const idsOf = (body: { segments: { id: number }[] }) => body.segments.map(({ id }) => id)
    assert.deepEqual(idsOf(await get(own.key, base)), newest)
    const first = await get(own.key, '/v3/contacts/segments')
    assert.deepEqual([first.count, idsOf(first)], [11, newest.slice(0, 10)])
    const rest = await get(own.key, `/v3/contacts/segments?cursor=${first.next_cursor}`)
    assert.deepEqual(idsOf(rest), newest.slice(10))
    assert.deepEqual(idsOf(await get(own.key, `${base}?sort=asc&offset=9`)), ids.slice(9))
    const none = await get(own.key, `${base}?limit=0`)
    assert.deepEqual([none.code, none.message], ['out_of_range', 'limit must be between 1 and 200'])
    assert.equal((await get(own.key, `${base}?limit=201`)).code, 'out_of_range')
    assert.equal((await get(own.key, '/v3/contacts/segments?limit=51')).code, 'out_of_range')
  })

  test('are served under contacts as well', async () => {
    const own = await account()
    const at = '/v3/contacts/segments'
    const send = (method: string, path: string, body?: object) =>
      app.call(method, path, { key: own.key, body })
    await send('POST', '/v3/contacts', { email: 'anna@example.com' })
    const made = await send('POST', at, { name: 'All', attribute: 'EMAIL', operator: 'is_set' })
    assert.equal(made.status, 201)
    const path = `${at}/${made.body.id}`
    assert.equal((await send('PUT', path, { name: 'Everybody' })).status, 204)
    assert.equal((await get(own.key, path)).segmentName, 'Everybody')
    const everybody = await get(own.key, `${base}/${made.body.id}/contacts`)
    assert.equal(everybody.count, 1)
    assert.deepEqual(await get(own.key, `${path}/contacts`), everybody)
    assert.equal((await send('DELETE', path)).status, 204)
    assert.equal((await send('GET', path)).status, 404)
  })

  const refused: [object, string, RegExp][] = [
    [{ name: '' }, 'missing_parameter', /^Segment name is missing$/],
    [{ attribute: null }, 'missing_parameter', /^attribute is missing$/],
    [{ operator: undefined }, 'missing_parameter', /^operator is missing$/],
    [{ value: undefined }, 'missing_parameter', /^value is missing$/],
    [{ value: '' }, 'missing_parameter', /^value is missing$/],
    [{ operator: 'in', value: [] }, 'missing_parameter', /^value is missing$/],
    [{ operator: 'in', value: [null] }, 'missing_parameter', /^value is missing$/],
    [{ attribute: 'LIKES', operator: 'contains', value: [] }, 'missing_parameter', /^value is missing$/],
    [{ attribute: 'UNKNOWN' }, 'invalid_parameter', /UNKNOWN is none/],
    [{ attribute: 'SCORE' }, 'invalid_parameter', /calculated/],
    [{ attribute: {} }, 'invalid_parameter', /attribute/],
    [{ operator: 'like' }, 'invalid_parameter', /^operator must be one of/],
    [{ operator: 'constructor' }, 'invalid_parameter', /^operator must be one of/],
    [{ operator: 'gt' }, 'invalid_parameter', /gt does not fit CITY, which is of type text/],
    [{ operator: 'before' }, 'invalid_parameter', /does not fit/],
    [{ attribute: 'AGE', operator: 'contains' }, 'invalid_parameter', /does not fit/],
    [{ attribute: 'AGE', operator: 'after', value: 1 }, 'invalid_parameter', /does not fit/],
    [{ attribute: 'BORN', operator: 'contains' }, 'invalid_parameter', /does not fit/],
    [{ attribute: 'VIP', operator: 'gt', value: true }, 'invalid_parameter', /does not fit/],
    [{ attribute: 'LEVEL', operator: 'lt', value: 1 }, 'invalid_parameter', /does not fit/],
    [{ attribute: 'AGE', value: 'many' }, 'invalid_parameter', /^value must be a number$/],
    [{ attribute: 'AGE', operator: 'in', value: [1, 'many'] }, 'invalid_parameter', /must be a number/],
    [{ attribute: 'BORN', value: '2026-02-30' }, 'invalid_parameter', /must be a date/],
    [{ attribute: 'VIP', value: 'maybe' }, 'invalid_parameter', /must be true or false/],
    [{ attribute: 'LEVEL', value: 'Silver' }, 'invalid_parameter', /one of its categories/],
    [{ attribute: 'LIKES', value: ['Beer'] }, 'invalid_parameter', /its options only/],
    [{ value: ['Paris'] }, 'invalid_parameter', /^value must be a text$/],
    [{ value: { a: 1 } }, 'invalid_parameter', /^value must be a text, a number/],
    [{ attribute: 'LEVEL', value: { toString: 1 } }, 'invalid_parameter', /^value must be/],
    [{ attribute: 'LIKES', value: [{ toString: 1 }] }, 'invalid_parameter', /^value must be/],
    [{ operator: 'in', value: Array.from({ length: 1001 }, String) }, 'invalid_parameter', /at most 1000/],
  ]
  for (const [body, code, message] of refused) {
    test(`are refused with ${JSON.stringify(body).slice(0, 60)}`, async () => {
      const usual = { name: 'Segment', attribute: 'CITY', operator: 'eq', value: 'Paris' }
      const reply = await call('POST', base, { ...usual, ...body })
      assert.deepEqual([reply.status, reply.body.code], [400, code], reply.text)
      assert.match(reply.body.message, message)
    })
  }

  test('of another account do not exist, nor do its attributes and contacts', async () => {
    const theirs = await app.makeAccount()
    const id = await create(key, { attribute: 'CITY', operator: 'neq', value: 'x' })
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/contacts'],
      ['PUT', ''],
      ['DELETE', ''],
    ] as const) {
      const body = method === 'PUT' ? { name: 'x' } : undefined
      assert.equal((await app.call(method, `${base}/${id}${path}`, { key: theirs.key, body })).status, 404)
    }
    const body = { name: 'x', attribute: 'CITY', operator: 'is_set' }
    assert.equal((await app.call('POST', base, { key: theirs.key, body })).status, 400)
    const all = await create(theirs.key, { attribute: 'EMAIL', operator: 'is_set' })
    assert.equal((await get(theirs.key, `${base}/${all}/contacts`)).count, 0)
    assert.equal((await get(theirs.key, base)).count, 1)
    assert.equal((await get(key, `${base}/${id}`)).segmentName, 'Segment')
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'

const app = await makeApp({
  env: { POSTHORN_RATE_LIMIT_FACTOR: '100' },
})
const base = '/v3/contacts/lists'

async function create(body: object = {}, key = app.key): Promise<number> {
  const reply = await app.call('POST', base, { key, body: { name: 'News', ...body } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

async function createFolder(key = app.key): Promise<number> {
  return (await app.call('POST', '/v3/contacts/folders', { key, body: { name: 'Folder' } })).body.id
}

describe('lists', () => {
  test('are created in a folder, read, changed and deleted', async () => {
    const folderId = await createFolder()
    const id = await create({ folderId })
    const { body } = await app.call('GET', `${base}/${id}?startDate=2026-01-01&endDate=2026-01-31`)
    assert.deepEqual(
      { ...body, createdAt: 0 },
      {
        id,
        name: 'News',
        folderId,
        uniqueSubscribers: 0,
        totalSubscribers: 0,
        totalBlacklisted: 0,
        createdAt: 0,
        dynamicList: false,
        campaignStats: [],
      },
    )
    const changes: [object, [string, number]][] = [
      [{ name: 'Newer' }, ['Newer', folderId]],
      [{ name: 'Newest', folderId: null }, ['Newest', folderId]],
      [{ folderId: 0 }, ['Newest', 0]],
      [{ folderId: String(folderId), name: null }, ['Newest', folderId]],
      [{ folderId: '0' }, ['Newest', 0]],
    ]
    for (const [change, [name, folder]] of changes) {
      const reply = await app.call('PUT', `${base}/${id}`, { body: change })
      assert.deepEqual([reply.status, reply.text], [204, ''])
      const { body: read } = await app.call('GET', `${base}/${id}`)
      assert.deepEqual([read.name, read.folderId], [name, folder], JSON.stringify(change))
    }
    assert.equal((await app.call('DELETE', `${base}/${id}`)).status, 204)
    const gone = await app.call('GET', `${base}/${id}`)
    assert.deepEqual([gone.status, gone.body.code], [404, 'document_not_found'])
    assert.equal((await app.call('DELETE', `${base}/${id}`)).status, 404)
    assert.equal((await app.call('PUT', `${base}/${id}`, { body: { name: 'x' } })).status, 404)
  })

  test('need no folder', async () => {
    for (const folderId of [undefined, null, 0, '']) {
      const { body } = await app.call('GET', `${base}/${await create({ folderId })}`)
      assert.equal(body.folderId, 0)
    }
  })

  test('are listed by pages, newest first', async () => {
    const { key } = await app.makeAccount()
    const list = async (query = '') => (await app.call('GET', `${base}${query}`, { key })).body
    const idsOf = (body: { lists: { id: number }[] }) => body.lists.map(({ id }) => id)
    assert.deepEqual(await list(), { count: 0, lists: [], next_cursor: null })
    const ids: number[] = []
    for (let i = 0; i < 12; i++) ids.push(await create({}, key))
    const newest = ids.toReversed()
    const first = await list()
    assert.deepEqual([first.count, idsOf(first)], [12, newest.slice(0, 10)])
    assert.deepEqual(idsOf(await list(`?cursor=${first.next_cursor}`)), newest.slice(10))
    assert.deepEqual(idsOf(await list('?sort=asc&limit=50&offset=3')), ids.slice(3))
    assert.deepEqual(idsOf(await list('?limit=0')), [])
    for (const query of ['?limit=51', '?limit=-1', '?offset=-1'])
      assert.equal((await list(query)).code, 'out_of_range')
    for (const query of ['?limit=x', '?sort=up', '?cursor=nothing', '?cursor=%00', '?offset=%00'])
      assert.equal((await list(query)).code, 'invalid_parameter', query)
  })

  test('are refused in the provider’s words', async () => {
    for (const name of [undefined, null, '', ' \u0001\n']) {
      const { status, body } = await app.call('POST', base, { body: { name } })
      assert.deepEqual([status, body.code, body.message], [400, 'missing_parameter', 'List name is missing'])
    }
    const id = await create()
    for (const folderId of [999_999, Number.MAX_SAFE_INTEGER]) {
      for (const [method, path] of [
        ['POST', base],
        ['PUT', `${base}/${id}`],
      ] as const) {
        const { status, body } = await app.call(method, path, { body: { name: 'x', folderId } })
        assert.deepEqual(
          [status, body.code, body.message],
          [404, 'document_not_found', 'Folder ID does not exist'],
        )
      }
    }
    for (const folderId of [-1, 1.5, 'x', {}, [1], 2 ** 53]) {
      const { status, body } = await app.call('POST', base, { body: { name: 'x', folderId } })
      assert.deepEqual([status, body.code], [400, 'invalid_parameter'], JSON.stringify(folderId))
    }
    const empty = await app.call('PUT', `${base}/${id}`, { body: {} })
    assert.deepEqual([empty.status, empty.body.code], [400, 'missing_parameter'])
    for (const bad of ['x', '-1', '9007199254740993', '%00'])
      assert.equal((await app.call('GET', `${base}/${bad}`)).status, 400, bad)
  })

  test('of another account do not exist', async () => {
    const id = await create()
    const { key } = await app.makeAccount()
    assert.equal((await app.call('GET', `${base}/${id}`, { key })).status, 404)
    assert.equal((await app.call('PUT', `${base}/${id}`, { key, body: { name: 'x' } })).status, 404)
    assert.equal((await app.call('DELETE', `${base}/${id}`, { key })).status, 404)
    const foreign = await createFolder(key)
    const moved = await app.call('PUT', `${base}/${id}`, { body: { folderId: foreign } })
    assert.deepEqual([moved.status, moved.body.message], [404, 'Folder ID does not exist'])
    assert.equal((await app.call('GET', `${base}/${id}`)).body.name, 'News')
  })
})

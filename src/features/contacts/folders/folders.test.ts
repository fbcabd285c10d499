import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'

const app = await makeApp({
  env: { POSTHORN_RATE_LIMIT_FACTOR: '100' },
})
const base = '/v3/contacts/folders'

async function create(name: string, key = app.key): Promise<number> {
  const reply = await app.call('POST', base, { key, body: { name } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

async function createList(folderId: number, key = app.key): Promise<number> {
  const reply = await app.call('POST', '/v3/contacts/lists', { key, body: { name: 'List', folderId } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

const idsOf = (rows: { id: number }[]) => rows.map(({ id }) => id)

describe('folders', () => {
  test('are created, read, renamed and deleted', async () => {
    const id = await create(' Shop\r\n2026 ')
    const { body } = await app.call('GET', `${base}/${id}`)
    assert.deepEqual(body, {
      id,
      name: 'Shop 2026',
      uniqueSubscribers: 0,
      totalSubscribers: 0,
      totalBlacklisted: 0,
    })
    const renamed = await app.call('PUT', `${base}/${id}`, { body: { name: 'New', other: 1 } })
    assert.deepEqual([renamed.status, renamed.text], [204, ''])
    assert.equal((await app.call('GET', `${base}/${id}`)).body.name, 'New')
    assert.equal((await app.call('DELETE', `${base}/${id}`)).status, 204)
    for (const [method, input] of [['GET'], ['DELETE'], ['PUT', { body: { name: 'x' } }]] as const) {
      const gone = await app.call(method, `${base}/${id}`, input)
      assert.deepEqual(
        [gone.status, gone.body.code, gone.body.message],
        [404, 'document_not_found', 'Folder ID does not exist'],
      )
    }
  })

  test('leave their lists behind when they are deleted', async () => {
    const id = await create('Left')
    const list = await createList(id)
    assert.equal((await app.call('DELETE', `${base}/${id}`)).status, 204)
    const { body } = await app.call('GET', `/v3/contacts/lists/${list}`)
    assert.deepEqual([body.id, body.folderId], [list, 0])
    assert.equal((await app.call('GET', `${base}/${id}/lists`)).status, 404)
  })

  test('show how many are on their lists', async () => {
    const { key } = await app.makeAccount()
    const id = await create('Counted', key)
    const lists = [await createList(id, key), await createList(id, key), await createList(id, key)]
    const join = async (names: string[], listId: number | undefined) => {
      for (const name of names) {
        const body = { email: `${name}@example.com`, listIds: [listId], updateEnabled: true }
        await app.call('POST', '/v3/contacts', { key, body })
      }
    }
    const counts = async () => {
      const { body } = await app.call('GET', `${base}/${id}`, { key })
      assert.deepEqual((await app.call('GET', base, { key })).body.folders, [body])
      return [body.uniqueSubscribers, body.totalSubscribers]
    }
    assert.deepEqual(await counts(), [0, 0])
    await join(['ann', 'bob', 'cleo'], lists[0])
    assert.deepEqual(await counts(), [3, 3])
    // Two of these are on the other list already.
    await join(['bob', 'cleo', 'dan', 'eve'], lists[1])
    assert.deepEqual(await counts(), [5, 7])
    const page = (await app.call('GET', `${base}/${id}/lists`, { key })).body
    assert.deepEqual(
      page.lists.map((list: { id: number; folderId: number; uniqueSubscribers: number }) => [
        list.id,
        list.folderId,
        list.uniqueSubscribers,
      ]),
      [
        [lists[2], id, 0],
        [lists[1], id, 4],
        [lists[0], id, 3],
      ],
    )
    assert.deepEqual([page.count, page.next_cursor], [3, null])
  })

  test('and the lists in one come by pages, newest first', async () => {
    const { key } = await app.makeAccount()
    const get = async (path: string) => (await app.call('GET', `${base}${path}`, { key })).body
    assert.deepEqual(await get(''), { count: 0, folders: [], next_cursor: null })
    const ids = [await create('a', key), await create('b', key), await create('c', key)]
    assert.deepEqual(idsOf((await get('')).folders), ids.toReversed())
    assert.deepEqual(idsOf((await get('?sort=asc&offset=1')).folders), ids.slice(1))
    const first = await get('?limit=2')
    assert.deepEqual([first.count, idsOf(first.folders)], [3, [ids[2], ids[1]]])
    assert.deepEqual(idsOf((await get(`?limit=2&cursor=${first.next_cursor}`)).folders), [ids[0]])
    const lists = [await createList(ids[0] as number, key), await createList(ids[0] as number, key)]
    await createList(ids[1] as number, key)
    const page = await get(`/${ids[0]}/lists?limit=1`)
    assert.deepEqual([page.count, idsOf(page.lists)], [2, [lists[1]]])
    assert.deepEqual(idsOf((await get(`/${ids[0]}/lists?cursor=${page.next_cursor}`)).lists), [lists[0]])
    // A cursor belongs to its list.
    assert.equal((await get(`/${ids[1]}/lists?cursor=${page.next_cursor}`)).code, 'invalid_parameter')
    for (const path of ['?limit=51', '?limit=-1', '?offset=-1', `/${ids[0]}/lists?limit=51`])
      assert.equal((await get(path)).code, 'out_of_range', path)
  })

  test('are refused with a reason', async () => {
    for (const body of [{}, { name: null }, { name: ' \u0001\n' }, undefined]) {
      const { status, body: said } = await app.call('POST', base, { body })
      assert.deepEqual(
        [status, said.code, said.message],
        [400, 'missing_parameter', 'Folder name is missing'],
      )
    }
    const id = await create('Named')
    assert.equal((await app.call('PUT', `${base}/${id}`, { body: {} })).body.code, 'missing_parameter')
    for (const name of [{}, [], 'x'.repeat(251)])
      assert.equal((await app.call('POST', base, { body: { name } })).body.code, 'invalid_parameter')
    for (const bad of ['x', '1.5', '-1', '9007199254740993', '1e30', '%00'])
      assert.equal((await app.call('GET', `${base}/${bad}`)).status, 400, bad)
  })

  test('of another account do not exist', async () => {
    const id = await create('Mine')
    const { key } = await app.makeAccount()
    for (const path of ['', '/lists'])
      assert.equal((await app.call('GET', `${base}/${id}${path}`, { key })).status, 404)
    assert.equal((await app.call('PUT', `${base}/${id}`, { key, body: { name: 'x' } })).status, 404)
    assert.equal((await app.call('DELETE', `${base}/${id}`, { key })).status, 404)
    const list = await app.call('POST', '/v3/contacts/lists', { key, body: { name: 'x', folderId: id } })
    assert.deepEqual([list.status, list.body.message], [404, 'Folder ID does not exist'])
    assert.equal((await app.call('GET', `${base}/${id}`)).body.name, 'Mine')
    assert.deepEqual((await app.call('GET', base, { key })).body.folders, [])
  })
})

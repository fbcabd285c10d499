import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })

test('numbers in a query may come one by one, in brackets or with commas, twenty at most', async () => {
  const ids: number[] = []
  for (let i = 0; i < 4; i++) {
    const { body } = await app.call('POST', '/v3/contacts', { body: { email: `listed${i}@example.com` } })
    ids.push(body.id)
  }
  const asked = [ids[0], ids[2], 999_999_999_999_991, 999_999_999_999_992]
  for (const query of [
    asked.map((id) => `ids=${id}`).join('&'),
    asked.map((id) => `ids[]=${id}`).join('&'),
    asked.map((id, i) => `ids[${i}]=${id}`).join('&'),
    `ids=${asked.join(',')}`,
    `ids=${asked.join('%2C%20')}`,
    `ids=${ids[0]},${ids[2]}&ids=${asked[2]}`,
  ]) {
    const { body } = await app.call('GET', `/v3/contacts?sort=asc&${query}`)
    assert.deepEqual(
      [body.count, body.contacts?.map(({ id }: { id: number }) => id)],
      [2, [ids[0], ids[2]]],
      query,
    )
  }
  const refused = async (query: string) => (await app.call('GET', `/v3/contacts?${query}`)).body
  const many = await refused(`ids=${Array.from({ length: 21 }, (_, i) => i + 1).join(',')}`)
  assert.deepEqual([many.code, /ids must have at most 20/.test(many.message)], ['invalid_parameter', true])
  for (const query of ['ids=', 'ids=1,x', 'ids=1,,2', 'listIds=0'])
    assert.equal((await refused(query)).code, 'invalid_parameter', query)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { sql } from '../../../kernel/sql.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools

async function account() {
  const { key, accountId } = await app.makeAccount()
  const call = (method: string, path: string, body?: unknown) => app.call(method, `/v3${path}`, { key, body })
  const declare = async (path: string, body: object) =>
    assert.equal((await call('POST', `/contacts/attributes/${path}`, body)).status, 201, path)
  const segment = async (body: object): Promise<number> => {
    const made = await call('POST', '/segments', { name: 'Some', ...body })
    assert.equal(made.status, 201, made.text)
    return made.body.id
  }
  return { accountId, call, declare, segment }
}

test('an attribute that segments ask about is not deleted, and they are named', async () => {
  const { call, declare, segment } = await account()
  const path = '/contacts/attributes/normal/OPTOUT'
  await declare('normal/OPTOUT', { type: 'boolean' })
  const ids: number[] = []
  for (const operator of ['neq', 'eq', 'eq', 'neq'])
    ids.push(await segment({ attribute: 'OPTOUT', operator, value: true }))
  const refused = await call('DELETE', path)
  assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_parameter'])
  const named = ids.slice(0, 3).map((id) => `segment ${id} (Some)`)
  assert.equal(
    refused.body.message,
    `OPTOUT is used by ${named.join(', ')} and 1 more: change or delete these first`,
  )
  for (const id of ids) await call('DELETE', `/segments/${id}`)
  assert.equal((await call('DELETE', path)).status, 204)
})

test('nor is a choice or a category that segments ask about taken out', async () => {
  const { call, declare, segment } = await account()
  const options = ['Tea', 'Rum', 'Gin']
  await declare('normal/LIKES', { type: 'multiple-choice', multiCategoryOptions: options })
  const enumeration = [1, 2, 3].map((value) => ({ value, label: `L${value}` }))
  await declare('category/LEVEL', { enumeration })
  await segment({ attribute: 'LIKES', operator: 'contains', value: ['Tea'] })
  await segment({ attribute: 'LEVEL', operator: 'in', value: [1, 2] })
  const removeOption = (name: string) => call('DELETE', `/contacts/attributes/multiple-choice/LIKES/${name}`)
  const keep = (values: number[]) =>
    call('PUT', '/contacts/attributes/category/LEVEL', {
      enumeration: enumeration.filter(({ value }) => values.includes(value)),
    })
  const refused = [await removeOption('Tea'), await keep([1, 3])]
  for (const { status, body } of refused) {
    assert.equal(status, 400)
    assert.match(body.message, /is used by segment \d+ \(Some\): change or delete these first/)
  }
  assert.deepEqual([(await removeOption('Rum')).status, (await keep([1, 2])).status], [204, 204])
})

test('a segment made while its attribute is deleted either keeps it or is refused', async () => {
  const { call, declare } = await account()
  for (let round = 0; round < 5; round++) {
    await declare(`normal/RACE${round}`, { type: 'text' })
    const body = { name: 'Race', attribute: `RACE${round}`, operator: 'is_not_set' }
    const [made, deleted] = await Promise.all([
      call('POST', '/segments', body),
      call('DELETE', `/contacts/attributes/normal/RACE${round}`),
    ])
    assert.ok(
      (made.status === 201 && deleted.status === 400) || (made.status === 400 && deleted.status === 204),
      `${made.status} ${deleted.status}`,
    )
  }
})

test('a segment whose attribute is gone all the same has nobody', async () => {
  const { accountId, call, declare, segment } = await account()
  await declare('normal/LOST', { type: 'text' })
  await call('POST', '/contacts', { email: 'somebody@example.com' })
  const id = await segment({ attribute: 'LOST', operator: 'is_not_set' })
  const counts = async () => [
    (await call('GET', `/segments/${id}/contacts`)).body.count,
    (await call('GET', `/contacts?segmentId=${id}`)).body.count,
  ]
  assert.deepEqual(await counts(), [1, 1])
  await db.run(sql`delete from contact_attributes where account_id = ${accountId} and name = 'LOST'`)
  assert.deepEqual(await counts(), [0, 0])
  assert.equal((await call('PUT', `/segments/${id}`, { name: 'Renamed' })).status, 204)
  assert.equal((await call('GET', `/segments/${id}`)).body.operator, 'is_not_set')
})

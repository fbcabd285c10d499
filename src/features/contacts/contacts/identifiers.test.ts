import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })

type Body = Record<string, unknown>

const call = (method: string, path: string, body?: unknown) =>
  app.call(method, `/v3/contacts${path}`, { body })
const get = async (who: string | number) => (await call('GET', `/${who}`)).body

let made = 0
async function make(body: Body = {}): Promise<{ id: number; email: string }> {
  const email = `named${++made}@example.com`
  const reply = await call('POST', '', { email, ...body })
  assert.equal(reply.status, 201, reply.text)
  return { id: reply.body.id, email }
}

/** The two operations that name a contact by an address beside its attributes. */
const ways: [string, (body: Body) => Promise<{ status: number; body: Body }>][] = [
  ['a create with updateEnabled', (body) => call('POST', '', { ...body, updateEnabled: true })],
  ['a batch', (body) => call('POST', '/batch', { contacts: [body] })],
]

describe('another address among the attributes', () => {
  for (const [what, send] of ways)
    test(`is the new one in ${what}, unless it is taken or none`, async () => {
      const [one, other] = [await make(), await make()]
      const change = (EMAIL: string | null) => send({ email: one.email, attributes: { EMAIL } })
      const taken = await change(other.email)
      assert.deepEqual([taken.status, taken.body.code], [400, 'duplicate_parameter'])
      assert.match(String(taken.body.message), /email is already associated with another Contact$/)
      for (const bad of ['nobody', '', null]) assert.equal((await change(bad)).status, 400, String(bad))
      assert.equal((await get(one.id)).email, one.email)
      const moved = `moved${one.id}@example.com`
      assert.equal((await change(moved.toUpperCase())).status, 204)
      assert.deepEqual(
        [(await get(one.id)).email, (await get(one.email)).code],
        [moved, 'document_not_found'],
      )
    })

  test('is the new one of who is named by an own identifier', async () => {
    const one = await make({ ext_id: 'crm-moving' })
    const body = { ext_id: 'crm-moving', attributes: { EMAIL: 'Moving@example.com' } }
    const refused = await call('POST', '', body)
    assert.deepEqual([refused.status, refused.body.code], [400, 'duplicate_parameter'])
    for (const status of [204, 204])
      assert.equal((await call('POST', '', { ...body, updateEnabled: true })).status, status)
    assert.equal((await get(one.id)).email, 'moving@example.com')
    const taken = { ext_id: 'crm-moving', updateEnabled: true }
    for (const names of [
      { attributes: { EMAIL: (await make()).email } },
      { email: 'somebody-else@example.com', attributes: { EMAIL: 'somebody-else@example.com' } },
    ]) {
      const { body: fault } = await call('POST', '', { ...taken, ...names })
      assert.deepEqual(fault.metadata, { duplicate_identifiers: ['ext_id'] })
    }
  })

  test('of somebody unknown is the address of the contact that is made, once', async () => {
    const body = { email: 'old@example.com', attributes: { EMAIL: 'new@example.com' }, updateEnabled: true }
    assert.deepEqual(
      [(await call('POST', '', body)).status, (await call('POST', '', body)).status],
      [201, 204],
    )
    assert.equal((await get('old@example.com')).code, 'document_not_found')
    assert.equal((await get('new@example.com')).email, 'new@example.com')
  })
})

test('an address cannot be emptied; what says nothing of it changes nothing', async () => {
  const { email } = await make()
  for (const EMAIL of ['', ' ', null]) {
    const { status, body } = await call('PUT', `/${email}`, { attributes: { EMAIL } })
    assert.deepEqual([status, body.code], [400, 'invalid_parameter'])
    assert.match(body.message, /EMAIL cannot be emptied/)
  }
  assert.equal((await call('PUT', `/${email}`, { email: '', attributes: {} })).status, 204)
  assert.equal((await get(email)).email, email)
})

test('an own identifier is emptied by an empty text or null, unless it is the only name', async () => {
  for (const ext_id of ['', null]) {
    const { email } = await make({ ext_id: `crm-${ext_id}` })
    assert.equal((await call('PUT', `/${email}`, { attributes: {} })).status, 204)
    assert.equal((await get(email)).ext_id, `crm-${ext_id}`)
    assert.equal((await call('PUT', `/${email}`, { ext_id })).status, 204)
    assert.equal((await get(email)).ext_id, undefined)
  }
  const { body: only } = await call('POST', '', { ext_id: 'crm-only' })
  const refused = await call('PUT', `/${only.id}`, { ext_id: '' })
  assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_parameter'])
  const { body: phone } = await call('POST', '', { attributes: { SMS: '+33 6 11 22 33 44' } })
  assert.equal((await call('PUT', `/${phone.id}`, { attributes: { SMS: '' } })).status, 400)
})

test('tags given with a contact take the place of those before', async () => {
  const { email } = await make({ tags: ['vip', 'new', 'vip'] })
  const tags = async () => (await get(email)).tags
  assert.deepEqual(await tags(), ['new', 'vip'])
  const put = async (given: unknown) => (await call('PUT', `/${email}`, { tags: given })).status
  assert.deepEqual([await put(['old']), await tags()], [204, ['old']])
  assert.deepEqual([await put(null), await tags()], [204, ['old']])
  assert.deepEqual([await put([' ']), await tags()], [400, ['old']])
  const batch = await call('POST', '/batch', { contacts: [{ email, tags: ['x', 'y'] }] })
  assert.deepEqual([batch.status, await tags()], [204, ['x', 'y']])
  assert.equal((await call('POST', '', { email, tags: [], updateEnabled: true })).status, 204)
  assert.deepEqual(await tags(), [])
})

describe('an identifier that many contacts want at once', () => {
  const wants: [string, (at: string) => Body][] = [
    ['address', (at) => ({ attributes: { EMAIL: `wanted-${at}@example.com` } })],
    ['telephone number', () => ({ attributes: { SMS: '+33612121212' } })],
    ['ext_id', () => ({ ext_id: 'wanted' })],
  ]
  for (const [what, body] of wants)
    test(`as ${what} is one's, and refused to the others`, async () => {
      const contacts = await Promise.all(Array.from({ length: 10 }, () => make()))
      const replies = await Promise.all(
        contacts.map(({ id }) => call('PUT', `/${id}`, body(what.slice(0, 3)))),
      )
      const codes = replies.map(({ status, body: { code } }) => (status === 204 ? 204 : code))
      assert.deepEqual(codes.toSorted(), [204, ...Array(9).fill('duplicate_parameter')])
    })
})

test('contacts are not merged: a forced merge is refused with what to do instead', async () => {
  const [one, other] = [await make({ ext_id: 'merge-one' }), await make({ ext_id: 'merge-other' })]
  const force = { forceMerge: true }
  const change = { ...force, ext_id: 'merge-other' }
  const refused = await call('PUT', `/${one.id}`, change)
  assert.deepEqual([refused.status, refused.body.code], [400, 'duplicate_parameter'])
  assert.equal(
    refused.body.message,
    'Unable to update contact, ext_id is already associated with another Contact. forceMerge is not supported: ' +
      `put what is to stay of contact ${other.id} into contact ${one.id}, then DELETE /v3/contacts/${other.id} ` +
      'and send this again',
  )
  const both = await call('POST', '', { ...change, email: one.email, updateEnabled: true })
  assert.equal(both.body.message, refused.body.message)
  const made = await call('POST', '', { ...force, email: one.email })
  assert.match(
    String(made.body.message),
    new RegExp(`supported: send updateEnabled: true to change contact ${one.id}$`),
  )
  assert.equal((await call('DELETE', `/${other.id}`)).status, 204)
  assert.equal((await call('PUT', `/${one.id}`, change)).status, 204)
  assert.equal((await get(one.id)).ext_id, 'merge-other')
})

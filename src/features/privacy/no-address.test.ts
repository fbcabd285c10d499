import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const phone = '33612345601'

/** A person known by a telephone number and the customer's own identifier, who got an SMS and stands in an export. */
async function known() {
  const { key } = await app.makeAccount()
  const call = (method: string, path: string, body?: unknown) => app.call(method, path, { key, body })
  const text = () =>
    call('POST', '/v3/transactionalSMS/sms', { sender: 'Shop', recipient: phone, content: 'Hello Ann' })
  const attributes = { SMS: `+${phone}`, FIRSTNAME: 'Ann' }
  assert.equal((await call('POST', '/v3/contacts', { ext_id: 'c-77', attributes })).status, 201)
  await call('POST', '/v3/contacts', { email: 'bob@example.com', attributes: { SMS: '+33612345699' } })
  assert.equal((await text()).status, 201)
  const erase = (who: object) => call('POST', '/api/v1/contacts/erase', { ...who, confirm: true })
  const told = (query: string) => call('GET', `/api/v1/contacts/export?${query}`)
  const log = async () => JSON.stringify((await call('GET', '/api/v1/audit-logs?limit=200')).body.data)
  return { call, text, erase, told, log }
}

describe('a person without an address', () => {
  for (const [name, query, who] of [
    ['telephone number', 'phone=%2B33%206%2012%2034%2056%2001', { phone: '+33 6 12 34 56 01' }],
    ['own identifier', 'ext_id=c-77', { ext_id: 'c-77' }],
  ] as const)
    test(`is exported and erased by their ${name}`, async () => {
      const { call, text, erase, told, log } = await known()
      const { status, body } = await told(query)
      assert.equal(status, 200)
      assert.deepEqual([body.email, body.phone, body.contact.ext_id], [null, phone, 'c-77'])
      assert.equal(body.sms.length, 1)
      assert.doesNotMatch(JSON.stringify(body), /bob@|33612345699/)
      const erased = await erase(who)
      assert.equal(erased.status, 200)
      assert.deepEqual(
        [erased.body.erased.contact, erased.body.erased.sms, erased.body.suppressed],
        [1, 1, true],
      )
      assert.doesNotMatch(await log(), /Ann|612345601|c-77/)
      assert.equal((await call('GET', '/v3/contacts/c-77?identifierType=ext_id')).status, 404)
      assert.equal((await call('GET', '/v3/contacts/bob@example.com')).status, 200)
      assert.equal((await text()).status, 422)
    })

  test('has their address erased too where there is one', async () => {
    const { call, erase, told } = await known()
    const byPhone = 'phone=33612345699'
    assert.equal((await told(byPhone)).body.email, 'bob@example.com')
    assert.equal((await erase({ phone: '33612345699' })).body.erased.contact, 1)
    const kept = await call('GET', '/api/v1/suppressions?email=bob@example.com')
    assert.equal(kept.body.data.length, 1)
  })

  test('is one of three, said once and readably', async () => {
    const { erase, told } = await known()
    for (const who of [{}, { email: 'ann@example.com', phone }, { phone: 'ann' }, { email: 'ann' }])
      assert.equal((await erase(who)).status, 422)
    assert.equal((await erase({ ext_id: 'c-78' })).status, 404)
    assert.equal((await told('ext_id=c-78')).status, 404)
    assert.equal((await erase({ phone: '33612345600' })).body.erased.contact, 0)
  })
})

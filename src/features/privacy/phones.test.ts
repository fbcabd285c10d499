import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })

/** A contact that was written to on a number which it has no more. */
async function moved() {
  const { key } = await app.makeAccount()
  const call = (method: string, path: string, body?: unknown) => app.call(method, path, { key, body })
  const text = (recipient: string) =>
    call('POST', '/v3/transactionalSMS/sms', { sender: 'Shop', recipient, content: `To ${recipient}` })
  await call('POST', '/v3/contacts', { email: 'ann@example.com', attributes: { SMS: '+33612345601' } })
  assert.equal((await text('+33 6 12 34 56 01')).status, 201)
  const byPhone = `/v3/contacts/${encodeURIComponent('+33 6 12 34 56 01')}?identifierType=phone_id`
  assert.equal((await call('PUT', byPhone, { attributes: { LASTNAME: 'Quux' } })).status, 204)
  await call('PUT', '/v3/contacts/ann@example.com', { attributes: { SMS: '+33612345602' } })
  assert.equal((await text('+33612345602')).status, 201)
  const read = async () => (await call('GET', '/api/v1/contacts/export?email=ann@example.com')).body
  const erase = async () =>
    (await call('POST', '/api/v1/contacts/erase', { email: 'ann@example.com', confirm: true })).body.erased
  const log = async () => JSON.stringify((await call('GET', '/api/v1/audit-logs?limit=200')).body.data)
  return { call, text, read, erase, log }
}

describe('a person who had another telephone number before', () => {
  test('is exported and erased under all of them, and written to under none', async () => {
    const { text, read, erase, log } = await moved()
    const held = await read()
    const numbers = held.sms.map(({ recipient }: { recipient: string }) => recipient)
    assert.deepEqual(numbers, ['33612345601', '33612345602'])
    assert.match(JSON.stringify(held.action_log), /Quux/)
    assert.equal((await erase()).sms, 2)
    assert.doesNotMatch(await log(), /33 ?6 ?12|Quux/)
    assert.deepEqual([(await text('33612345601')).status, (await text('33612345602')).status], [422, 422])
  })

  test('takes nothing along of a number that is somebody else’s by now', async () => {
    const { call, text, read, erase } = await moved()
    await call('POST', '/v3/contacts', { email: 'bob@example.com', attributes: { SMS: '33612345601' } })
    assert.equal((await read()).sms.length, 1)
    assert.equal((await erase()).sms, 1)
    assert.deepEqual([(await text('33612345601')).status, (await text('33612345602')).status], [201, 422])
  })

  test('is told of no line of the log whose digits only happen to hold the number', async () => {
    const { call, text, read } = await moved()
    await text('133612345602')
    await call('POST', '/v3/contacts', { email: 'x@example.com', attributes: { SMS: '4133612345602' } })
    assert.doesNotMatch(JSON.stringify((await read()).action_log), /\d33612345602|x@example/)
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })

/** A contact that had the address first@, then second@, and has third@ by now, and was written to at each. */
async function moved() {
  const { key } = await app.makeAccount()
  const call = (method: string, path: string, body?: unknown) => app.call(method, path, { key, body })
  const send = async (to: string) =>
    (
      await call('POST', '/api/v1/transactional/send', {
        from: 'shop@example.com',
        to,
        subject: 'Hi',
        text: 'Hi',
      })
    ).status
  const move = (from: string, to: string) =>
    call('PUT', `/v3/contacts/${from}@example.com`, { attributes: { EMAIL: `${to}@example.com` } })
  await call('POST', '/v3/contacts', { email: 'first@example.com', attributes: { FIRSTNAME: 'Ann' } })
  assert.equal(await send('first@example.com'), 202)
  await move('first', 'second')
  assert.equal(await send('second@example.com'), 202)
  await move('second', 'third')
  assert.equal(await send('third@example.com'), 202)
  const read = async (email: string) => (await call('GET', `/api/v1/contacts/export?email=${email}`)).body
  const erase = async (email: string) =>
    (await call('POST', '/api/v1/contacts/erase', { email, confirm: true })).body.erased
  const exists = async (email: string) => (await call('GET', `/v3/contacts/${email}`)).status === 200
  return { call, send, move, read, erase, exists }
}

describe('a person who is asked for by an address that they have left', () => {
  test('is exported whole, under the one in use now', async () => {
    const { read } = await moved()
    for (const email of ['First@example.com', 'second@example.com']) {
      const held = await read(email)
      assert.equal(held.email, 'third@example.com')
      assert.equal(held.contact?.attributes.FIRSTNAME, 'Ann')
      const former = held.former_addresses.map((one: { email: string }) => one.email)
      assert.deepEqual([former, held.messages.length], [['first@example.com', 'second@example.com'], 3])
    }
  })

  test('is erased whole, and written to under none of their addresses', async () => {
    const { call, send, erase } = await moved()
    const erased = await erase('first@example.com')
    assert.deepEqual([erased.contact, erased.messages], [1, 3])
    const log = await call('GET', '/api/v1/audit-logs?limit=200')
    assert.doesNotMatch(JSON.stringify(log.body), /(first|second|third)@|Ann/)
    for (const name of ['first', 'second', 'third']) assert.equal(await send(`${name}@example.com`), 422)
  })

  test('is not touched where the address is another contact’s by now, but for their history of it', async () => {
    const { call, send, read, erase, exists } = await moved()
    await call('POST', '/v3/contacts', { email: 'first@example.com', attributes: { FIRSTNAME: 'Bo' } })
    assert.equal((await read('first@example.com')).contact.attributes.FIRSTNAME, 'Bo')
    const erased = await erase('first@example.com')
    assert.deepEqual([erased.contact, erased.messages, await exists('third@example.com')], [1, 1, true])
    const { body } = await call('GET', '/v3/contacts/third@example.com/history')
    assert.doesNotMatch(JSON.stringify(body), /first@/)
    assert.match(JSON.stringify(body), /second@/)
    assert.deepEqual([await send('first@example.com'), await send('second@example.com')], [422, 202])
  })

  test('is whoever left it last, where several did', async () => {
    const { call, move, erase, exists } = await moved()
    await call('POST', '/v3/contacts', { email: 'first@example.com', attributes: { FIRSTNAME: 'Bo' } })
    await move('first', 'fourth')
    assert.equal((await erase('first@example.com')).contact, 1)
    assert.deepEqual([await exists('third@example.com'), await exists('fourth@example.com')], [true, false])
  })
})

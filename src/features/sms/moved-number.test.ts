import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'

const app = await makeApp()

const put = async (body: object) => {
  const reply = await app.call('PUT', '/v3/contacts/ann@example.com', { body })
  assert.equal(reply.status, 204, reply.text)
}
const isSent = async (recipient: string) => {
  const body = { sender: 'Shop', recipient, content: 'Hello' }
  return (await app.call('POST', '/v3/transactionalSMS/sms', { body })).status === 201
}
const [old, next, last] = ['33612345678', '33612345679', '33612345670']

test('a number that is blacklisted stays so when its contact moves to another, and goes along', async () => {
  const contact = { email: 'ann@example.com', smsBlacklisted: true, attributes: { SMS: `+${old}` } }
  assert.equal((await app.call('POST', '/v3/contacts', { body: contact })).status, 201)
  await put({ attributes: { SMS: `+${next}` } })
  assert.deepEqual([await isSent(old), await isSent(next)], [false, false])
  await put({ attributes: { SMS: '' } })
  assert.equal(await isSent(next), false)
  await put({ attributes: { SMS: `+${old}` } })
  const { body } = await app.call('GET', '/v3/contacts/ann@example.com')
  assert.equal(body.smsBlacklisted, true)
  await put({ smsBlacklisted: false, attributes: { SMS: `+${last}` } })
  assert.deepEqual([await isSent(old), await isSent(last)], [false, true])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'

const app = await makeApp()
const { key } = app
const call = (method: string, path: string, body?: unknown) => app.call(method, path, { key, body })

test('an address that a contact has left is erased from its history, and no more of the contact goes', async () => {
  await call('POST', '/v3/contacts', { email: 'typo@example.com', attributes: { FIRSTNAME: 'Ann' } })
  await call('PUT', '/v3/contacts/typo@example.com', { attributes: { EMAIL: 'ann@example.com' } })
  await call('PUT', '/v3/contacts/ann@example.com', { attributes: { EMAIL: 'newer@example.com' } })
  const erased = await call('POST', '/api/v1/contacts/erase', { email: 'typo@example.com', confirm: true })
  assert.equal(erased.body.erased.history, 2)
  assert.equal(erased.body.moved_to.email, 'newer@example.com')
  const { body } = await call('GET', '/v3/contacts/newer@example.com/history')
  assert.doesNotMatch(JSON.stringify(body), /typo/)
  assert.match(JSON.stringify(body), /ann@example\.com/)
  assert.equal((await call('GET', '/v3/contacts/newer@example.com')).body.attributes.FIRSTNAME, 'Ann')
})

test('whoever asks for an address that a contact has left is told which contact that is', async () => {
  const made = await call('POST', '/v3/contacts', { email: 'old@example.com' })
  await call('PUT', '/v3/contacts/old@example.com', { attributes: { EMAIL: 'young@example.com' } })
  const movedTo = { id: made.body.id, email: 'young@example.com' }
  const held = async (email: string) => (await call('GET', `/api/v1/contacts/export?email=${email}`)).body
  const { contact, moved_to } = await held('old@example.com')
  assert.deepEqual([contact, moved_to], [null, movedTo])
  const unconfirmed = await call('POST', '/api/v1/contacts/erase', { email: 'old@example.com' })
  assert.match(
    unconfirmed.body.error.hint,
    new RegExp(`contact ${movedTo.id} had .* has young@example.com now`),
  )
  assert.equal((await held('young@example.com')).moved_to, null)
  await call('POST', '/v3/contacts', { email: 'old@example.com' })
  assert.equal((await held('old@example.com')).moved_to, null)
})

test('whoever asks for a telephone number that a contact has left is told which contact that is', async () => {
  const [former, now] = ['33612345671', '33612345672']
  const made = await call('POST', '/v3/contacts', {
    email: 'caller@example.com',
    attributes: { SMS: former },
  })
  await call('PUT', '/v3/contacts/caller@example.com', { attributes: { SMS: now } })
  const movedTo = { id: made.body.id, email: 'caller@example.com' }
  const held = async (phone: string) => (await call('GET', `/api/v1/contacts/export?phone=${phone}`)).body
  const { contact, moved_to } = await held(former)
  assert.deepEqual([contact, moved_to], [null, movedTo])
  assert.equal((await held(now)).moved_to, null)
  const erase = (confirm: boolean) =>
    call('POST', '/api/v1/contacts/erase', { phone: former, ...(confirm && { confirm }) })
  assert.match((await erase(false)).body.error.hint, /had this number, has caller@example\.com now/)
  assert.deepEqual((await erase(true)).body.moved_to, movedTo)
  const { body } = await call('GET', '/v3/contacts/caller@example.com/history')
  assert.doesNotMatch(JSON.stringify(body), new RegExp(former))
  assert.match(JSON.stringify(body), new RegExp(now))
})

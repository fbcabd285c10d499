import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'

const app = await makeApp()
const contact = '/v3/contacts/anna%40example.com'

async function account() {
  const { key } = await app.makeAccount()
  const call = (method: string, path: string, body?: object) => app.call(method, path, { key, body })
  const send = async (from: string, to = ['anna@example.com']) => {
    const message = { subject: 'Hi', textContent: 'Hi.', to: to.map((email) => ({ email })) }
    return (await call('POST', '/v3/smtp/email', { ...message, sender: { email: from } })).status
  }
  const own = async (from: string) => {
    const message = { from, to: 'Anna@Example.com', subject: 'Hi', text: 'Hi.' }
    return (await call('POST', '/api/v1/transactional/send', message)).status
  }
  const blocked = async () => (await call('GET', '/v3/smtp/blockedContacts')).body
  return { key, call, send, own, blocked }
}

test('a contact gets no transactional mail of the senders that it is blocked for', async () => {
  const { call, send, own, blocked } = await account()
  const body = { email: 'Anna@example.com', smtpBlacklistSender: ['News@shop.example', 'ads@shop.example'] }
  assert.equal((await call('POST', '/v3/contacts', body)).status, 201)
  assert.deepEqual([await send('news@shop.example'), await own('NEWS@shop.example')], [422, 422])
  assert.deepEqual([await send('orders@shop.example'), await own('orders@shop.example')], [201, 202])
  assert.equal(await send('news@shop.example', ['anna@example.com', 'bob@example.com']), 201)
  const { data } = (await call('GET', '/api/v1/messages?to=anna@example.com')).body
  assert.equal(data.filter(({ status }: { status: string }) => status === 'suppressed').length, 1)
  const { count, contacts } = await blocked()
  assert.equal(count, 2)
  const [first] = contacts
  assert.deepEqual([first.email, first.reason.code], ['anna@example.com', 'adminBlocked'])
  assert.match(first.senderEmail, /^(news|ads)@shop\.example$/)
  const other = await account()
  assert.equal(await other.send('news@shop.example'), 201)
})

test('what is given replaces what there was, and unblocking takes all of it away', async () => {
  const { call, send, blocked } = await account()
  await call('POST', '/v3/contacts', { email: 'anna@example.com' })
  const put = (senders: unknown) => call('PUT', contact, { smtpBlacklistSender: senders })
  assert.equal((await put(['news@shop.example'])).status, 204)
  assert.equal((await put(null)).status, 204)
  assert.equal(await send('news@shop.example'), 422)
  assert.equal((await put(['ads@shop.example'])).status, 204)
  assert.deepEqual([await send('news@shop.example'), await send('ads@shop.example')], [201, 422])
  assert.equal((await put([])).status, 204)
  assert.deepEqual([await send('ads@shop.example'), (await blocked()).count], [201, 0])
  await put(['ads@shop.example'])
  const unblock = () => call('DELETE', '/v3/smtp/blockedContacts/anna%40example.com')
  assert.deepEqual([(await unblock()).status, (await unblock()).status], [204, 404])
  assert.equal(await send('ads@shop.example'), 201)
  const bad = await put(['nobody'])
  assert.deepEqual(
    [bad.status, bad.body.message],
    [400, 'smtpBlacklistSender must be a list of email addresses'],
  )
  assert.equal((await put('ads@shop.example')).status, 400)
})

test('the blocks go along to another address, unless the change itself says which there are', async () => {
  const { call, send } = await account()
  const both = ['ads@shop.example', 'news@shop.example']
  await call('POST', '/v3/contacts', { email: 'anna@example.com', smtpBlacklistSender: both })
  await call('PUT', contact, { attributes: { EMAIL: 'new@example.com' } })
  const sent = async (to: string) => [
    await send('ads@shop.example', [to]),
    await send('news@shop.example', [to]),
  ]
  assert.deepEqual(await sent('new@example.com'), [422, 422])
  const change = { attributes: { EMAIL: 'newer@example.com' }, smtpBlacklistSender: ['ads@shop.example'] }
  assert.equal((await call('PUT', '/v3/contacts/new%40example.com', change)).status, 204)
  assert.deepEqual(await sent('newer@example.com'), [422, 201])
})

test('the blocks of a person are exported and erased', async () => {
  const { call, blocked } = await account()
  await call('POST', '/v3/contacts', { email: 'anna@example.com', smtpBlacklistSender: ['ads@shop.example'] })
  const { body } = await call('GET', '/api/v1/contacts/export?email=anna@example.com')
  assert.equal(body.blocked_senders[0].sender, 'ads@shop.example')
  await call('POST', '/api/v1/contacts/erase', { email: 'anna@example.com', confirm: true })
  assert.equal((await blocked()).count, 0)
})

test('unblocking an address subscribes its contact again', async () => {
  const { call } = await account()
  await call('POST', '/v3/contacts', { email: 'anna@example.com', emailBlacklisted: true })
  assert.equal((await call('GET', contact)).body.emailBlacklisted, true)
  assert.equal((await call('DELETE', '/v3/smtp/blockedContacts/anna%40example.com')).status, 204)
  assert.equal((await call('GET', contact)).body.emailBlacklisted, false)
})

test('a contact that is changed by a creation is answered by its number where that is asked for', async () => {
  const { call } = await account()
  const { body } = await call('POST', '/v3/contacts', { email: 'anna@example.com' })
  const again = { email: 'anna@example.com', updateEnabled: true }
  assert.equal((await call('POST', '/v3/contacts', again)).status, 204)
  const told = await call('POST', '/v3/contacts', { ...again, getId: true })
  assert.deepEqual([told.status, told.body], [200, { id: body.id }])
})

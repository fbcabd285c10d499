import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'

const app = await makeApp()

const email = 'left@example.com'
const path = '/api/v1/suppressions/left%40example.com'

test('taking an address off the list says that its contact is still unsubscribed, and what to do', async () => {
  const made = await app.call('POST', '/v3/contacts', { body: { email, emailBlacklisted: true } })
  assert.equal(made.status, 201, made.text)
  const { status, body } = await app.call('DELETE', path)
  assert.deepEqual([status, body.email, body.deleted], [200, email, true])
  const [{ code, message, action }] = body.warnings
  assert.equal(code, 'contact_unsubscribed')
  assert.match(
    message,
    /left@example\.com is still unsubscribed: campaigns and automations do not write to it/,
  )
  assert.equal((await app.call('GET', `/v3/contacts/${email}`)).body.status, 'unsubscribed')
  assert.deepEqual([action.operation, action.scope], ['contact.resubscribe', 'contacts.write'])
  assert.equal((await app.call(action.method, action.path)).body.status, 'subscribed')
})

test('and that its domain, or a sender for it, is blocked: what is offered then lets a send through', async () => {
  const blocked = 'blocked@blocked.example'
  const message = { from: 'shop@example.com', to: blocked, subject: 'Hello', text: 'Hello.' }
  const call = async (method: string, path: string, body?: object) => {
    const reply = await app.call(method, path, { body })
    assert.ok(reply.status < 300, reply.text)
    return reply.body
  }
  await call('POST', '/api/v1/suppressions', { email: blocked })
  await call('POST', '/v3/smtp/blockedDomains', { domain: 'blocked.example' })
  await call('POST', '/v3/contacts', { email: blocked, smtpBlacklistSender: ['shop@example.com'] })
  const { blocking } = await call('POST', '/api/v1/messages/validate', message)
  const told = blocking.map((one: { message: string }) => one.message.replace(/^\S+ is /, '')).sort()
  const blocks = ['blocked for this sender.', 'not written to: the domain blocked.example is blocked.']
  assert.deepEqual(told, [...blocks, 'on the suppression list (manual).'])
  const { warnings } = await call('DELETE', `/api/v1/suppressions/${blocked}`)
  const codes = warnings.map(({ code }: { code: string }) => code)
  assert.deepEqual(codes, ['blocked_domain', 'blocked_sender'])
  for (const { action } of warnings) await call(action.method, action.path)
  assert.equal((await call('POST', '/api/v1/transactional/send', message)).status, 'queued')
})

test('and says nothing where nothing is left against writing to it', async () => {
  for (const address of [email, 'nobody@example.com']) {
    await app.call('POST', '/api/v1/suppressions', { body: { email: address } })
    const { body } = await app.call('DELETE', `/api/v1/suppressions/${address}`)
    assert.deepEqual(body, { email: address, deleted: true, warnings: [] })
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeDomainApp } from '../domains/fixtures/app.ts'

const app = await makeDomainApp()
const domain = 'mail.shop.test'

const call = (method: string, path: string, body?: unknown, key = app.key) =>
  app.call(method, path, { key, body })
const send = (from: string, key?: string) =>
  call(
    'POST',
    '/api/v1/transactional/send',
    { from, to: 'anna@example.org', subject: 'Hi', text: 'Hi.' },
    key,
  )
const sender = async (email: string, key?: string) => {
  const { body } = await call('POST', '/v3/senders', { name: 'Shop', email }, key)
  const { senders } = (await call('GET', '/v3/senders', undefined, key)).body
  const { active } = senders.find((one: { id: number }) => one.id === body.id)
  return { ...body, active }
}

test('a verified domain makes its senders active at once, for its account alone, for as long as it is', async () => {
  const { body: declared } = await app.declare(domain)
  const early = await sender(`early@${domain}`)
  assert.deepEqual([early.active, early.spfError, early.dkimError], [false, true, true])
  app.publish(declared.records)
  await app.verify(domain)
  const made = await sender(`shop@${domain}`)
  assert.deepEqual([made.active, made.spfError, made.dkimError], [true, false, false])
  const stranger = await app.makeAccount()
  assert.equal((await sender(`shop@${domain}`, stranger.key)).active, false)
  for (const key of [app.key, stranger.key])
    await call('PUT', '/api/v1/settings', { require_verified_sender: true }, key)
  assert.equal((await send(`anybody@${domain}`)).status, 202)
  assert.equal((await send(`anybody@sub.${domain}`)).status, 422)
  assert.equal((await send(`anybody@${domain}`, stranger.key)).status, 422)
  for (const name of Object.keys(app.zone)) if (name.includes(domain)) delete app.zone[name]
  await app.verify(domain)
  assert.equal((await send(`anybody@${domain}`)).status, 422)
})

test('a code comes from an address that receivers believe, where the account has one', async () => {
  const { key } = await app.makeAccount()
  const domain = 'believed.test'
  const { body: declared } = await app.declare(domain, key)
  const codeFrom = async (email: string) => {
    await sender(email, key)
    const { body } = await call('GET', `/api/v1/messages?to=${email}`, undefined, key)
    return body.data[0].from
  }
  assert.equal(await codeFrom('one@other.test'), 'one@other.test')
  app.publish(declared.records)
  await app.verify(domain, key)
  assert.equal(await codeFrom('two@other.test'), `no-reply@${domain}`)
  await sender(`shop@${domain}`, key)
  assert.equal(await codeFrom('three@other.test'), `Shop <shop@${domain}>`)
  await call('PUT', '/api/v1/settings', { default_sender: { email: 'desk@usual.test' } }, key)
  assert.equal(await codeFrom('four@other.test'), 'desk@usual.test')
})

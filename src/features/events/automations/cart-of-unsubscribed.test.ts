import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'

const app = await makeApp()

const email = 'left@example.com'
const cart = {
  id: 'c1',
  url: 'https://shop.example/cart/c1',
  currency: 'EUR',
  total: 10,
  items: [{ name: 'Lamp', quantity: 1, price: 10 }],
}

test('the cart of a contact who unsubscribed is refused with what subscribes it again, step by step', async () => {
  await app.call('PUT', '/api/v1/settings', { body: { default_sender: { email: 'shop@example.com' } } })
  await app.call('POST', '/v3/contacts', { body: { email, emailBlacklisted: true } })
  const leave = () => app.call('POST', '/api/v1/automations/abandoned-cart', { body: { email, cart } })
  const operations: string[] = []
  for (let reply = await leave(); reply.status !== 202; reply = await leave()) {
    const { code, param, message, action } = reply.body.error
    assert.deepEqual([reply.status, code, param], [422, 'recipient_suppressed', 'email'])
    operations.push(action.operation)
    if (operations.length > 1) assert.match(message, /^The contact left@example\.com is unsubscribed/)
    const mended = await app.call(action.method, action.path)
    assert.equal(mended.status, 200, mended.text)
  }
  assert.deepEqual(operations, ['suppression.delete', 'contact.resubscribe'])
})

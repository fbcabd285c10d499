// Bad inputs that were found once, and what belongs beside them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../app.ts'
import { workingExampleOf } from '../contract/examples.ts'
import { put } from '../tenants/places.ts'

const app = await makeApp({ deliver: true })

const numbers: Record<string, string[]> = {
  'email.send': ['template_id'],
  'message.validate': ['template_id'],
  'v3.email.send': ['sender.id', 'templateId'],
  'v3.template.create': ['sender.id'],
  'v3.campaign.create': [
    'sender.id',
    'splitRule',
    'winnerDelay',
    'returnBounce',
    'emailExpirationDate.duration',
  ],
  'v3.attribute.create': ['enumeration[].value'],
  'campaign.conversion': ['amount', 'campaign_id'],
  'automation.abandoned_cart': ['cart.total'],
  'automation.create': ['list_id', 'steps[].template_id'],
}

for (const [name, places] of Object.entries(numbers)) {
  test(`${name} takes no number for granted`, async () => {
    const [face, id] = name.startsWith('v3.') ? ['v3', name.slice(3)] : ['own', name]
    const op = app.operations.find((each) => each.face === face && each.name === id)
    assert.ok(op)
    const { path, body } = await workingExampleOf(op, app, app.key)
    for (const place of places)
      for (const number of ['1e308', '1e400', '-1e308', '9223372036854775808', '1.5', '-1', '1e-400']) {
        const alone = place === 'sender.id' ? put(body, 'sender', {}) : body
        const raw = JSON.stringify(put(alone, place, '@')).replace('"@"', number)
        const reply = await app.call(op.method, path, { raw })
        assert.ok(reply.status < 500, `${place} ${number}: ${reply.status} ${reply.text}`)
      }
  })
}

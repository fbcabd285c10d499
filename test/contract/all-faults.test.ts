// Whoever has one fault mended does not learn of the next one only then.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../app.ts'

const app = await makeApp()
const broken = '{{ x'
const send = { from: 'x', to: 'nobody', subject: broken, html: '<p>', params: {} }
const campaign = { name: 'x', from: 'me@shop.example', subject: broken, html: broken, list_id: 999_999 }
const step = { delay_minutes: 0, from: 'me@shop.example', subject: broken, html: broken }

/** With faults that only the act sees. */
const bodies: [string, object][] = [
  ['/api/v1/transactional/send', send],
  ['/api/v1/campaigns/send', campaign],
  ['/api/v1/campaigns/preview', { html: broken, subject: broken, contact: 'nobody' }],
  ['/api/v1/campaigns/conversion', { email: 'nobody', amount: -1 }],
  ['/api/v1/automations', { name: 'x', trigger_type: 'list_addition', list_id: 999_999, steps: [step] }],
  ['/api/v1/automations/abandoned-cart', { email: 'nobody', cart: { id: '1' } }],
  ['/api/v1/domains', { domain: 'no domain' }],
  ['/api/v1/domains/verify', { domain: 'no domain' }],
  ['/api/v1/suppressions', { email: 'nobody' }],
  ['/api/v1/contacts/erase', { email: 'nobody' }],
]

type Told = { code: string; param?: string; details?: Told[] }

async function toldOf(path: string, body: object): Promise<string[]> {
  const reply = await app.call('POST', path, { body })
  assert.equal(reply.status, 422, reply.text)
  const { error } = reply.body as { error: Told }
  return (error.details ?? [error]).map(({ code, param }) => `${param} ${code}`)
}

for (const [path, body] of bodies)
  test(`POST ${path} tells of an unknown field and of all else that is wrong`, async () => {
    const told = await toldOf(path, body)
    assert.ok(told.length > 0)
    assert.deepEqual(await toldOf(path, { ...body, colour: 1 }), ['colour unknown_parameter', ...told])
  })

test('a preview of which the template is no number tells of the rest, and misses no content', async () => {
  const told = await toldOf('/api/v1/campaigns/preview', {
    template_id: 'x',
    subject: broken,
    contact: 'nobody',
  })
  const rest = ['contact invalid_parameter', 'subject template_invalid']
  assert.deepEqual(told, ['template_id invalid_parameter', ...rest])
})

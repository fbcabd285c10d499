// Requests of the event and automation operations that succeed, and what must exist before them.
import type { App } from '../app.ts'
import type { Example } from './examples.ts'

const event = { event_name: 'signed_up', identifiers: { email_id: 'berta@example.com' } }
const automation = {
  name: 'Welcome',
  trigger_type: 'custom_event',
  event_name: 'signed_up',
  steps: [{ delay_minutes: 5, subject: 'Welcome', html: '<p>Hello</p>', from: 'shop@example.com' }],
}

export const eventExamples: Record<string, Partial<Example>> = {
  'v3.event.create': { body: event },
  'v3.event.batch': { body: { events: [event] } },
  'automation.create': { body: automation },
  'automation.get': { path: '/api/v1/automations/aut_1' },
  'automation.update': { path: '/api/v1/automations/aut_1', body: { status: 'paused' } },
  'automation.delete': { path: '/api/v1/automations/aut_1' },
  'automation.abandoned_cart': { body: { email: 'berta@example.com', cart: { id: 'c1' } } },
}

async function madeAutomation(app: App, key: string): Promise<Partial<Example>> {
  const { body } = await app.call('POST', '/api/v1/automations', { key, body: automation })
  return { path: `/api/v1/automations/${body.id}` }
}

export const eventPrepared: Record<string, (app: App, key: string) => Promise<Partial<Example>>> = {
  'automation.get': madeAutomation,
  'automation.update': madeAutomation,
  'automation.delete': madeAutomation,
  'automation.abandoned_cart': async (app, key) => {
    await app.call('PUT', '/api/v1/settings', {
      key,
      body: { default_sender: { email: 'shop@example.com' } },
    })
    return {}
  },
}

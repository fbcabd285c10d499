// Requests of the webhook operations that succeed, and what must exist before them.
import type { App } from '../app.ts'
import type { Example } from './examples.ts'

const webhook = { url: 'https://hooks.example.com/mail', events: ['delivered'] }
const delivery = `whd_${'0'.repeat(32)}`

export const webhookExamples: Record<string, Partial<Example>> = {
  'v3.webhook.create': { body: webhook },
  'v3.webhook.get': { path: '/v3/webhooks/1' },
  'v3.webhook.update': { path: '/v3/webhooks/1', body: { description: 'Mine' } },
  'v3.webhook.delete': { path: '/v3/webhooks/1' },
  'v3.webhook.secret': { path: '/v3/webhooks/1/secret' },
  'v3.webhook.rotate_secret': { path: '/v3/webhooks/1/secret/rotate' },
  'v3.webhook.deliveries': { path: '/v3/webhooks/1/deliveries' },
  'v3.webhook.replay': { path: `/v3/webhooks/1/deliveries/${delivery}/replay` },
  'v3.webhook.test': { path: '/v3/webhooks/1/test', body: {} },
}

const made =
  (rest = '') =>
  async (app: App, key: string): Promise<Partial<Example>> => {
    const { body } = await app.call('POST', '/v3/webhooks', { key, body: webhook })
    return { path: `/v3/webhooks/${body.id}${rest}` }
  }

export const webhookPrepared: Record<string, (app: App, key: string) => Promise<Partial<Example>>> = {
  'v3.webhook.get': made(),
  'v3.webhook.update': made(),
  'v3.webhook.delete': made(),
  'v3.webhook.secret': made('/secret'),
  'v3.webhook.rotate_secret': made('/secret/rotate'),
  'v3.webhook.deliveries': made('/deliveries'),
  'v3.webhook.test': made('/test'),
  'v3.webhook.replay': async (app, key) => {
    const { path } = await made()(app, key)
    const { body } = await app.call('POST', `${path}/test`, { key, body: {} })
    return { path: `${path}/deliveries/${body.id}/replay` }
  },
}

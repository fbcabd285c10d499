// Requests about senders that succeed, and what must exist before them.

import type { App } from '../app.ts'
import { until } from '../until.ts'
import type { Example } from './examples.ts'

let made = 0

const newSender = () => ({ name: 'Shop', email: `shop${++made}@example.com` })

export const senderExamples: Record<string, Partial<Example>> = {
  'v3.sender.create': { body: newSender() },
  'origin.stop': { body: { consent_source: 'a fair', confirm: true } },
  'v3.sender.update': { path: '/v3/senders/1', body: { name: 'New shop' } },
  'v3.sender.validate': { path: '/v3/senders/1/validate', body: { otp: 123456 } },
  'v3.sender.delete': { path: '/v3/senders/1' },
  'v3.sender.own_ips': { path: '/v3/senders/1/ips' },
}

async function sender(app: App, key: string) {
  const body = newSender()
  const { id } = (await app.call('POST', '/v3/senders', { key, body })).body
  return { path: `/v3/senders/${id}`, email: body.email }
}

export const senderPrepared: Record<string, (app: App, key: string) => Promise<Partial<Example>>> = {
  'v3.sender.create': async () => ({ body: newSender() }),
  'v3.sender.update': async (app, key) => ({ path: (await sender(app, key)).path }),
  'v3.sender.delete': async (app, key) => ({ path: (await sender(app, key)).path }),
  'v3.sender.own_ips': async (app, key) => ({ path: `${(await sender(app, key)).path}/ips` }),
  'v3.sender.validate': async (app, key) => {
    const { path, email } = await sender(app, key)
    const found = await until(async () => {
      const { body } = await app.call('GET', `/api/v1/sandbox/messages?to=${email}`, { key })
      return body.data[0]
    }, 'the code')
    return { path: `${path}/validate`, body: { otp: Number(/code: (\d{6})/.exec(found.text)?.[1]) } }
  },
}

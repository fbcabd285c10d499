import type { App } from '../app.ts'
import type { Example } from './examples.ts'

const own = '/api/v1/domains/mail.example.com'
const v3 = '/v3/senders/domains/mail.example.com'

export const domainExamples: Record<string, Partial<Example>> = {
  'domain.declare': { body: { domain: 'mail.example.com' } },
  'domain.verify': { body: { domain: 'mail.example.com' } },
  'domain.dns': { path: `${own}/dns` },
  'domain.rotate': { path: `${own}/dkim/rotate` },
  'domain.delete': { path: own },
  'v3.domain.declare': { body: { name: 'mail.example.com' } },
  'v3.domain.dns': { path: v3 },
  'v3.domain.verify': { path: `${v3}/authenticate` },
  'v3.domain.delete': { path: v3 },
}

async function declared(app: App, key: string): Promise<Partial<Example>> {
  await app.call('POST', '/api/v1/domains', { key, body: { domain: 'mail.example.com' } })
  return {}
}

export const domainPrepared = Object.fromEntries(
  ['domain.verify', 'domain.dns', 'domain.rotate', 'domain.delete']
    .flatMap((name) => [name, `v3.${name}`])
    .map((name) => [name, declared]),
)

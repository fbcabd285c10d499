// A request that succeeds, for each operation: what the contract tests send.
import { type Operation, operationId } from '../../src/kernel/operation.ts'
import type { App } from '../app.ts'
import { until } from '../until.ts'

export type Example = { path: string; body?: unknown }

const message = { from: 'shop@example.com', to: 'anna@example.com', subject: 'Hello', text: 'Hello.' }

const examples: Record<string, Partial<Example>> = {
  'email.send': { body: message },
  'message.validate': { body: message },
  'settings.update': { body: { click_tracking: true } },
  'suppression.create': { body: { email: 'gone@example.com' } },
}

/** What must exist first, made by other operations of the interface. */
const prepared: Record<string, (app: App, key: string) => Promise<Partial<Example>>> = {
  'message.get': async (app, key) => {
    const { body } = await app.call('POST', '/api/v1/transactional/send', { key, body: message })
    return { path: `/api/v1/messages/${body.id}` }
  },
  'sandbox.raw': async (app, key) => {
    await app.call('POST', '/api/v1/transactional/send', { key, body: message })
    const found = await until(async () => {
      const { body } = await app.call('GET', '/api/v1/sandbox/messages', { key })
      return body.data[0]
    }, 'a captured message')
    return { path: `/api/v1/sandbox/messages/${found.id}/raw` }
  },
  'suppression.delete': async (app, key) => {
    await app.call('POST', '/api/v1/suppressions', { key, body: { email: 'gone@example.com' } })
    return { path: '/api/v1/suppressions/gone%40example.com' }
  },
}

/** The example together with all that it needs, made with an unrestricted key of the account. */
export async function workingExampleOf(op: Operation, app: App, key: string): Promise<Example> {
  return { ...exampleOf(op), ...(await prepared[operationId(op)]?.(app, key)) }
}

/** Operations without a path parameter or a required field need no entry. */
export function exampleOf(op: Operation): Example {
  const known = examples[operationId(op)]
  return { path: known?.path ?? op.path, body: known?.body }
}

// A request that succeeds, for each operation: what the contract tests send.
import { type Operation, operationId } from '../../src/kernel/operation.ts'

export type Example = { path: string; body?: unknown }

const message = { from: 'shop@example.com', to: 'anna@example.com', subject: 'Hello', text: 'Hello.' }

const examples: Record<string, Partial<Example>> = {
  'email.send': { body: message },
  'settings.update': { body: { click_tracking: true } },
  'suppression.create': { body: { email: 'gone@example.com' } },
}

/** Operations without a path parameter or a required field need no entry. */
export function exampleOf(op: Operation): Example {
  const known = examples[operationId(op)]
  return { path: known?.path ?? op.path, body: known?.body }
}

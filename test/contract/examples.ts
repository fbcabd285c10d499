// A request that succeeds, for each operation: what the contract tests send.
import { type Operation, operationId } from '../../src/kernel/operation.ts'

export type Example = { path: string; body?: unknown }

const examples: Record<string, Partial<Example>> = {
  'settings.update': { body: { click_tracking: true } },
}

/** Operations without a path parameter or a required field need no entry. */
export function exampleOf(op: Operation): Example {
  const known = examples[operationId(op)]
  return { path: known?.path ?? op.path, body: known?.body }
}

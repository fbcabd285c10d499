// Custom events and the automations that they start.
import * as automations from '../features/events/automations/api.own.ts'
import { listRunsOwn } from '../features/events/automations/runs.api.own.ts'
import * as events from '../features/events/custom-events/api.v3.ts'
import type { Operation } from '../kernel/operation.ts'

export const eventOperations: Operation[] = [
  ...Object.values(events),
  ...Object.values(automations),
  listRunsOwn,
]

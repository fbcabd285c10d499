// What the API promised against what the sink took, one recipient a message.
import type { Taken } from './sink.ts'

export type Tally = {
  take(taken: Taken): void
  accept(recipient: string): void
  /** How many different messages the sink has. */
  reached(): number
  accepted(): number
  /** How many messages came, and which: those that came again are counted in the first only. */
  total(): number
  messageIds(): string[]
  /** Accepted, and not at the sink. */
  missing(): string[]
  /** How many times something came once more. */
  duplicates(): number
  /** Recipients of two different messages: accepted twice under one Idempotency-Key. */
  twofold(): string[]
}

export function makeTally(): Tally {
  const promised = new Set<string>()
  const arrived = new Map<string, Set<string>>()
  let total = 0
  return {
    take({ recipient, messageId }) {
      total++
      const ids = arrived.get(recipient) ?? new Set()
      arrived.set(recipient, ids.add(messageId))
    },
    accept: (recipient) => {
      promised.add(recipient)
    },
    reached: () => arrived.size,
    accepted: () => promised.size,
    total: () => total,
    messageIds: () => [...arrived.values()].flatMap((ids) => [...ids]),
    missing: () => [...promised].filter((recipient) => !arrived.has(recipient)),
    duplicates: () => total - arrived.size,
    twofold: () => [...arrived].filter(([, ids]) => ids.size > 1).map(([recipient]) => recipient),
  }
}

import type { Said } from '../../kernel/ports.ts'
import { unanswered } from './outcome.ts'

/** When to try a server again that took no connection. */
export type Backoff = {
  failed(startedAt: number, said: Said): void
  worked(): void
  /** A place became free on purpose: one attempt is due, whatever the last one said. */
  excuse(): void
  isTroubled(): boolean
  leftMs(): number
  said(): Said
}

const [firstMs, longestMs] = [100, 30_000]

export function openBackoff(now = () => performance.now(), random = Math.random): Backoff {
  let failures = 0
  let [failedAt, until] = [0, 0]
  let reason = unanswered('')
  return {
    failed(startedAt, said) {
      reason = said
      // An attempt that began before the last failure was known says nothing new.
      if (failures > 0 && startedAt < failedAt) return
      failedAt = now()
      until = failedAt + Math.min(longestMs, firstMs * 2 ** failures) * (0.75 + random() / 4)
      failures = Math.min(failures + 1, 16)
    },
    worked() {
      failures = 0
      until = 0
    },
    excuse() {
      until = 0
    },
    isTroubled: () => failures > 0,
    leftMs: () => Math.max(0, until - now()),
    said: () => reason,
  }
}

// The moments at which a mailbox may send. They are a function of the mailbox, the day and its pace alone, so that the
// plan that is shown and the plan that is followed are the same one.
import { hash } from 'node:crypto'

const usualGapMs = 10 * 60_000
const dayMs = 86_400_000
const perDigest = 8

/**
 * From one moment to the next: the mean gap times something between 0.5 and 1.5. The mean is ten minutes, hence gaps of
 * 5 to 15; where so many would not fit, it is the open time divided by the messages of the day and one.
 */
export function meanGapMs(cap: number, openMs: number): number {
  return Math.max(1_000, Math.min(usualGapMs, openMs / (cap + 1)))
}

/** Of one UTC day, in order. */
export function* slotsOf(mailboxId: string, dayStart: number, meanMs: number): Generator<number> {
  let [at, n] = [dayStart, 0]
  let digest = Buffer.alloc(0)
  for (;;) {
    if (n % perDigest === 0) digest = hash('sha256', `${mailboxId} ${dayStart} ${n}`, 'buffer')
    const unit = digest.readUInt32BE((n % perDigest) * 4) / 2 ** 32
    at += Math.round(meanMs * (0.5 + unit))
    if (at >= dayStart + dayMs) return
    yield at
    n += 1
  }
}

const soonestMs = 2_000
const latestMs = 20_000

/** How soon a mailbox writes that has rested: not in the same second as all others. */
export function soonMs(mailboxId: string): number {
  const unit = hash('sha256', `soon ${mailboxId}`, 'buffer').readUInt32BE() / 2 ** 32
  return Math.round(soonestMs + unit * (latestMs - soonestMs))
}

export const longestGapMs = usualGapMs * 1.5

export const startOfUtcDay = (at: number) => Math.floor(at / dayMs) * dayMs
export const nextUtcDay = (at: number) => startOfUtcDay(at) + dayMs

// Message states and the moves between them, as data.

export const statuses = ['queued', 'sent', 'delivered', 'failed', 'suppressed', 'held', 'cancelled'] as const
export type Status = (typeof statuses)[number]

export const sources = ['api', 'smtp', 'campaign', 'automation', 'outreach'] as const
export type Source = (typeof sources)[number]

/** From which states a state may be reached. A late bounce is the only way out of delivered. */
export const cameFrom: Record<Status, Status[]> = {
  queued: ['held'],
  sent: ['queued'],
  delivered: ['sent', 'queued'],
  failed: ['queued', 'sent', 'delivered'],
  suppressed: ['queued', 'sent'],
  held: ['queued'],
  cancelled: ['queued', 'held'],
}

/** What callers see of a message; the log keeps more kinds for webhooks and reports. */
export const shownEvents = ['delivery', 'open', 'click', 'bounce', 'complaint'] as const

export type LastError = {
  code: string
  smtp_code: number | null
  enhanced_code: string | null
  message: string
}

export const lanes = { transactional: 0, marketing: 1 } as const
export type Stream = keyof typeof lanes

// Minutes after each failed try; transactional mail is given up after a day.
const retryMinutes = [1, 5, 15, 30, 60, 120, 240, 240, 240, 240]
const giveUpAfterMs = 24 * 3_600_000

/** When to try again after so many tries, or undefined when it is time to give up. */
export function nextTry(attempts: number, dueFrom: Date, now: Date, factor: number): Date | undefined {
  const minutes = retryMinutes[Math.min(attempts, retryMinutes.length) - 1] ?? 240
  // A tenth of jitter keeps messages deferred together from coming back together.
  const delay = minutes * 60_000 * factor * (0.95 + Math.random() * 0.1)
  const due = new Date(now.getTime() + delay)
  return due.getTime() - dueFrom.getTime() > giveUpAfterMs * Math.max(1, factor) ? undefined : due
}

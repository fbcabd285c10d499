// Message states and the moves between them, as data.

export const statuses = ['queued', 'sent', 'delivered', 'failed', 'suppressed', 'held', 'cancelled'] as const
export type Status = (typeof statuses)[number]

export const sources = ['api', 'smtp', 'campaign', 'automation', 'outreach'] as const
export type Source = (typeof sources)[number]

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
// What waits for somebody to act is given up after a week; a wait this long says that somebody has to.
const holdAfterMs = 10 * 60_000
const giveUpHeldAfterMs = 7 * 24 * 3_600_000
const briefWaitMs = 10_000
// Whoever asks for more is asked once a day all the same: a wait beyond the week would end the message at once.
const longestAskedMs = 24 * 3_600_000

/** Hand-overs of which nobody heard whether they succeeded: each may have put a copy before its reader. */
const mostUnsureTries = 5
// After these they come hours apart, so that few of them outlive the trouble of a night.
const quickUnsureTries = 2

export type Tried = {
  attempts: number
  /** Where nobody heard of this one: how many like it there were. */
  unsureTries?: number
  /** The first try that was made; what waited for it, because nobody tried, is no time of tries. */
  triedSince: Date
  now: Date
  /** The upstream takes nobody's mail: no try of this message is counted. */
  isTransport: boolean
  /** How long the upstream asks to wait. */
  askedMs: number
  /**
   * Shortens all waits, for tests. The day after which it is given up shrinks with them; the time that somebody has to
   * act in, or the upstream to come back in, does not.
   */
  factor: number
}

export type NextTry = { at: Date; isHeld: boolean }

/** When to try again, or undefined when it is time to give up. */
export function nextTry({
  attempts,
  unsureTries = 0,
  triedSince,
  now,
  isTransport,
  askedMs,
  factor,
}: Tried): NextTry | undefined {
  if (unsureTries >= mostUnsureTries) return undefined
  const isForSomebody = askedMs >= holdAfterMs
  const isRecipients = !isTransport && !isForSomebody
  const isShortened = factor < 1 && isRecipients
  const passed = now.getTime() - triedSince.getTime()
  // A time in which nobody tried, because the service stood still or the upstream was away, is no refusal.
  const triedFor = usualAgeMs(attempts) * Math.max(1, factor)
  const age = isShortened ? triedFor : isRecipients ? Math.min(passed, triedFor) : passed
  const isHeld = isForSomebody || (isTransport && age > giveUpAfterMs)
  const asked = Math.min(askedMs, longestAskedMs)
  const usual = usualWaitMs(unsureTries > quickUnsureTries ? retryMinutes.length : attempts)
  const wait = Math.max(isTransport ? briefWaitMs : usual, asked)
  // A tenth of jitter keeps messages deferred together from coming back together.
  const delay = wait * factor * (0.95 + Math.random() * 0.1)
  const latest = isTransport || isHeld ? giveUpHeldAfterMs : giveUpAfterMs
  // Without the jitter, so that as many tries are made of each.
  return age + wait * (isShortened ? 1 : factor) > latest * Math.max(1, factor)
    ? undefined
    : { at: new Date(now.getTime() + delay), isHeld }
}

const usualWaitMs = (attempts: number) =>
  (retryMinutes[Math.min(attempts, retryMinutes.length) - 1] ?? 240) * 60_000

/** How old a message is at this try when it waits for nothing else, and no wait is shortened. */
function usualAgeMs(attempts: number): number {
  let age = 0
  for (let each = 1; each < attempts; each++) age += usualWaitMs(each)
  return age
}

/** Of what a customer attaches to a message for its own use; every recipient's row holds it. */
export const metadataLimits = { name: 64, value: 500, inAll: 16_000 } as const

export const metadataLength = (metadata: Record<string, string>) =>
  Object.entries(metadata).reduce((sum, [name, value]) => sum + name.length + value.length, 0)

/** Also once its values are filled in. */
export const longestSubject = 2_000
export const faultOfLongSubject = `subject must have at most ${longestSubject} characters`

/** Of a name beside an address. */
export const longestName = 200

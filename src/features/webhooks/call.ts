// One call to a receiver, and what it means for what was told.
import type { QueuedRow, Tried } from './queue-queries.ts'
import type { Signer } from './sign.ts'

export type Answer = { status: number; retryAfter: string | undefined; body: Buffer }

/** Posts once, follows nothing, and throws with a reason when no answer came. */
export type Post = (call: {
  url: string
  /** The same object for every call of a turn. */
  usual: Record<string, string>
  headers: Record<string, string>
  body: string
  timeoutMs: number
}) => Promise<Answer>

export type Call = {
  url: string
  signer: Signer
  post: Post
  timeoutMs: number
  now: () => Date
  retryFactor: number
}

const longestCallMs = 10_000

/** The last call of a turn begins in the first third of its lease and ends in the second. */
export const callTimeoutMs = (leaseSeconds: number) => Math.min(longestCallMs, (leaseSeconds * 1000) / 3)

export type Outcome = {
  at: Date
  isTaken: boolean
  statusCode: number | null
  /** The beginning of what a receiver said that did not take it. */
  answer: string | null
  error: string | null
  /** How long the receiver asks to be left alone. */
  askedMs: number
  tookMs: number
}

/** `id` is the same at every attempt; the time and the signature are those of this one. */
export async function call(
  { url, signer, post, timeoutMs, now }: Call,
  id: string,
  body: string,
): Promise<Outcome> {
  const at = now()
  const started = performance.now()
  const outcome = (told: Partial<Outcome>): Outcome => ({
    at,
    isTaken: false,
    statusCode: null,
    answer: null,
    error: null,
    askedMs: 0,
    tookMs: performance.now() - started,
    ...told,
  })
  try {
    const { usual } = signer
    const answer = await post({ url, usual, headers: signer.sign(id, body, at), body, timeoutMs })
    const { status } = answer
    if (status >= 200 && status < 300) return outcome({ isTaken: true, statusCode: status })
    const askedMs = readRetryAfter(answer.retryAfter, at)
    const error = `The receiver answered ${status}.`
    return outcome({ statusCode: status, answer: beginning(answer.body), error, askedMs })
  } catch (error) {
    return outcome({ error: error instanceof Error ? error.message.slice(0, 300) : 'The call failed.' })
  }
}

const longestAnswer = 300

function beginning(body: Buffer): string | null {
  const text = body
    .subarray(0, longestAnswer * 4)
    .toString()
    .replaceAll('\0', '')
  return text === '' ? null : text.slice(0, longestAnswer).toWellFormed()
}

const longestPauseMs = 24 * 3_600_000

/** Seconds or a date; 0 when nothing usable is said. */
export function readRetryAfter(said: string | undefined, now: Date): number {
  if (said === undefined) return 0
  const ms = /^\d{1,9}$/.test(said.trim()) ? Number(said) * 1000 : Date.parse(said) - now.getTime()
  return Number.isNaN(ms) ? 0 : Math.min(longestPauseMs, Math.max(0, ms))
}

// Seconds after each failed attempt; after the tenth it is given up.
const delays = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
const jitter = 0.1

export function triedOf(
  { retryFactor }: Pick<Call, 'retryFactor'>,
  queued: QueuedRow,
  { at, isTaken, statusCode, answer, error, askedMs, tookMs }: Outcome,
): Tried {
  const attempts = queued.attempts + 1
  const delay = isTaken || statusCode === 410 ? undefined : delays[attempts - 1]
  const spreadMs = (delay ?? 0) * 1000 * (1 + Math.random() * jitter) * retryFactor
  const waitMs = Math.max(spreadMs, askedMs * Math.min(1, retryFactor))
  return {
    webhookId: queued.webhook_id,
    id: queued.id,
    attempts,
    at,
    isDelivered: isTaken,
    // From its end: a call that ran into the time limit is not made again at once.
    dueAt: delay === undefined ? null : new Date(at.getTime() + tookMs + waitMs),
    statusCode,
    answer,
    error,
  }
}

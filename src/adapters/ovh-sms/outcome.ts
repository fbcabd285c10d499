// Answers of OVH, as outcomes of a hand-over.
import type { SmsOutcome } from '../../kernel/ports.ts'
import type { HttpAnswer } from './api.ts'

const minutes = 60_000

export function outcomeOf({ status, body }: HttpAnswer): SmsOutcome {
  const fields = fieldsOf(body)
  if (status >= 200 && status < 300) return taken(fields)
  const message = `HTTP ${status}, ${saidIn(fields)}`.slice(0, 500)
  const waits = (retryAfterMs: number): SmsOutcome => ({
    kind: 'deferred',
    fault: 'transport',
    message,
    retryAfterMs,
  })
  if (status === 429) return waits(1_000)
  // Wrong keys, no credits left, no such service: somebody has to act.
  if ([401, 402, 403, 404].includes(status)) return waits(10 * minutes)
  if (status === 502 || status === 504) return { kind: 'uncertain', message, retryAfterMs: 5 * minutes }
  if (status === 503) return waits(10_000)
  if (status >= 500) return { kind: 'deferred', fault: 'message', message }
  return { kind: 'failed', as: 'rejected', message }
}

function taken({ ids, invalidReceivers, validReceivers }: Fields): SmsOutcome {
  const [id] = Array.isArray(ids) ? ids : []
  const isInvalid = Array.isArray(invalidReceivers) && invalidReceivers.length > 0
  if (isInvalid && !(Array.isArray(validReceivers) && validReceivers.length > 0))
    return { kind: 'failed', as: 'hard_bounce', message: 'OVH says that the number is not valid' }
  return { kind: 'accepted', upstreamId: id === undefined || id === null ? null : String(id) }
}

/** No answer came. */
export function outcomeOfFailure(error: unknown): SmsOutcome {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, 500)
  const isUnsent = (error as { reached?: unknown } | null)?.reached === false
  if (isUnsent) return { kind: 'deferred', fault: 'transport', message, retryAfterMs: 10_000 }
  return { kind: 'uncertain', message, retryAfterMs: 5 * minutes }
}

type Fields = Record<string, unknown>

function fieldsOf(body: Buffer): Fields {
  try {
    const value: unknown = JSON.parse(body.toString())
    return typeof value === 'object' && value !== null ? (value as Fields) : {}
  } catch {
    return {}
  }
}

function saidIn({ message, errorCode }: Fields): string {
  return [errorCode, message].filter((one) => typeof one === 'string' && one !== '').join(': ') || 'no reason'
}

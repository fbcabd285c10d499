// Answers of the Scaleway interface, and failures on the way there, as outcomes of a hand-over.
import type { Outcome } from '../../kernel/ports.ts'
import { bodyOf, complaintOf, type HttpAnswer, isFine } from './api.ts'

type Verdict =
  | { kind: 'deferred'; fault: 'message' | 'transport'; enhancedCode: string; retryAfterMs?: number }
  | { kind: 'uncertain'; enhancedCode: string; retryAfterMs: number }
  | { kind: 'rejected'; enhancedCode: string }

const minutes = 60_000
const lane = (enhancedCode: string, retryAfterMs: number): Verdict => ({
  kind: 'deferred',
  fault: 'transport',
  enhancedCode,
  retryAfterMs,
})
// Most likely the domain is not declared, not checked or locked: its owner can repair it, the others need not wait.
const notReady: Verdict = {
  kind: 'deferred',
  fault: 'message',
  enhancedCode: '4.1.8',
  retryAfterMs: 10 * minutes,
}
// Counted against the message: one that always breaks the upstream must not come back for ever.
const stumbled: Verdict = { kind: 'deferred', fault: 'message', enhancedCode: '4.3.0' }
const badRequest: Verdict = { kind: 'rejected', enhancedCode: '5.5.4' }
// Its own report that it has the message usually comes within this time.
const unknown: Verdict = { kind: 'uncertain', enhancedCode: '4.4.2', retryAfterMs: 5 * minutes }

const byStatus: Record<number, Verdict> = {
  400: badRequest,
  401: lane('4.7.8', 10 * minutes),
  403: notReady,
  404: notReady,
  409: notReady,
  412: notReady,
  413: { kind: 'rejected', enhancedCode: '5.3.4' },
  422: badRequest,
  423: notReady,
  429: lane('4.4.5', 1_000),
  // A gateway that lost the answer does not know whether there was one.
  502: unknown,
  503: lane('4.3.2', 10_000),
  504: unknown,
}
const overQuota = lane('4.4.5', 10 * minutes)

export function outcomeOfAnswer(answer: HttpAnswer): Outcome {
  if (isFine(answer)) return accepted(answer)
  const { type, words } = complaintOf(answer)
  const verdict = type === 'quotas_exceeded' ? overQuota : verdictOn(answer.status)
  const retryAfterMs = readRetryAfter(answer.headers['retry-after'])
  const asked = verdict.kind === 'deferred' && retryAfterMs !== undefined ? { retryAfterMs } : {}
  return { ...verdict, ...asked, smtpCode: null, message: `Scaleway: ${words}` }
}

function verdictOn(status: number): Verdict {
  return byStatus[status] ?? (status >= 500 ? stumbled : status >= 400 ? badRequest : unknown)
}

function accepted(answer: HttpAnswer): Outcome {
  const { emails } = bodyOf(answer)
  const id: unknown = Array.isArray(emails) ? emails[0]?.id : undefined
  const upstreamId = typeof id === 'string' ? id : null
  return { kind: 'accepted', upstreamId, response: `Scaleway took it as ${upstreamId ?? 'an unnamed email'}` }
}

const neverLeft = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/** Unless it is certain that nothing was sent, something was: there is no token against sending twice. */
export function outcomeOfError(error: unknown): Outcome {
  const { reached, code = '' } = (error ?? {}) as { reached?: unknown; code?: unknown }
  const verdict = reached === false || neverLeft.has(String(code)) ? lane('4.4.1', 10_000) : unknown
  const words = error instanceof Error ? error.message : String(error)
  return { ...verdict, smtpCode: null, message: `Scaleway: ${words.replace(/\s+/g, ' ').slice(0, 500)}` }
}

function readRetryAfter(value: string | undefined): number | undefined {
  if (value === undefined || !/^\d{1,6}$/.test(value)) return undefined
  return Number(value) * 1000
}

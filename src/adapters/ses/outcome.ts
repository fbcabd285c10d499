// Errors of Amazon SES and of the way there, as outcomes of a hand-over.
import type { Outcome } from '../../kernel/ports.ts'

type Verdict =
  | { kind: 'deferred'; fault: 'message' | 'transport'; enhancedCode: string; retryAfterMs?: number }
  | { kind: 'uncertain'; enhancedCode: string; retryAfterMs: number }
  | { kind: 'rejected'; enhancedCode: string }

const lane = (enhancedCode: string, retryAfterMs: number): Verdict => ({
  kind: 'deferred',
  fault: 'transport',
  enhancedCode,
  retryAfterMs,
})
const minutes = 60_000

const throttled = lane('4.4.5', 1_000)
const overQuota = lane('4.4.5', 10 * minutes)
const paused = lane('4.3.2', 10 * minutes)
const suspended = lane('4.3.2', 60 * minutes)
const misconfigured = lane('4.3.5', 10 * minutes)
const keyRefused = lane('4.7.8', 10 * minutes)
const unreachable = lane('4.4.1', 10_000)
const down = lane('4.3.2', 10_000)
// The owner of the domain can still repair it, and nobody else's mail has to wait.
const unverified: Verdict = {
  kind: 'deferred',
  fault: 'message',
  enhancedCode: '4.1.8',
  retryAfterMs: 10 * minutes,
}
// Counted against the message: one that always breaks the upstream must not come back for ever.
const stumbled: Verdict = { kind: 'deferred', fault: 'message', enhancedCode: '4.3.0' }
const badContent: Verdict = { kind: 'rejected', enhancedCode: '5.6.0' }
const badRequest: Verdict = { kind: 'rejected', enhancedCode: '5.5.4' }
const tooLarge: Verdict = { kind: 'rejected', enhancedCode: '5.3.4' }
// Its own report that it has the message usually comes within this time.
const unknown: Verdict = { kind: 'uncertain', enhancedCode: '4.4.2', retryAfterMs: 5 * minutes }

const byName: Record<string, Verdict> = {
  TooManyRequestsException: throttled,
  ThrottlingException: throttled,
  Throttling: throttled,
  LimitExceededException: overQuota,
  SendingPausedException: paused,
  AccountSuspendedException: suspended,
  MailFromDomainNotVerifiedException: unverified,
  NotFoundException: misconfigured,
  MessageRejected: badContent,
  BadRequestException: badRequest,
  InternalServiceErrorException: stumbled,
  ConcurrentModificationException: stumbled,
  CredentialsProviderError: keyRefused,
}

const byStatus: Record<number, Verdict> = {
  401: keyRefused,
  403: keyRefused,
  404: misconfigured,
  // Whoever says this had not heard all of it, and may not be SES.
  408: unknown,
  413: tooLarge,
  429: throttled,
  // A gateway that lost the answer does not know whether there was one.
  502: unknown,
  503: down,
  504: unknown,
}

// Some errors share a name and differ in words only.
const byWords: [RegExp, Verdict][] = [
  [/daily message quota/i, overQuota],
  [/maximum sending rate/i, throttled],
  [/configuration set .*(does not exist|not found)/i, misconfigured],
  [/not verified/i, unverified],
]

// Some of them come as 400 and look like a mistake in the message.
const keyProblems = [
  'UnrecognizedClient',
  'InvalidSignature',
  'SignatureDoesNotMatch',
  'InvalidClientTokenId',
  'ExpiredToken',
  'InvalidToken',
  'IncompleteSignature',
  'MissingAuthenticationToken',
  'RequestExpired',
  'AccessDenied',
  'OptInRequired',
]

export type Refusal = Exclude<Outcome, { kind: 'accepted' }>

export function outcomeOf(error: unknown): Refusal {
  const { name, message, status } = read(error)
  const verdict = verdictOn(error, { name, message, status })
  return { ...verdict, smtpCode: null, message: `${name}: ${message}`.replace(/\s+/g, ' ').slice(0, 500) }
}

export const messageTooLarge = (bytes: number): Refusal => ({
  kind: 'rejected',
  smtpCode: null,
  enhancedCode: '5.3.4',
  message: `The message has ${bytes} bytes, more than Amazon SES takes`,
})

/** What the client of Amazon hides in its errors. */
type Answered = { $metadata?: { httpStatusCode?: unknown }; $response?: { statusCode?: unknown } }

type Facts = { name: string; message: string; status: number | null }

function verdictOn(error: unknown, { name, message, status }: Facts): Verdict {
  if (keyProblems.some((start) => name.startsWith(start))) return keyRefused
  const said = byWords.find(([words]) => status !== null && words.test(message))
  if (said !== undefined) return said[1]
  const named = Object.hasOwn(byName, name) ? byName[name] : undefined
  if (named !== undefined) return named
  if (status === null) return leftUs(error) ? unknown : unreachable
  const usual = byStatus[status]
  if (usual !== undefined) return usual
  if (status >= 500) return stumbled
  if (status < 400) return unknown
  // What stands between us and SES says nothing about the message.
  return name === unreadable ? misconfigured : badRequest
}

const unreadable = 'UnreadableAnswer'

function read(error: unknown): Facts {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), status: null }
  const { $metadata, $response } = error as Error & Answered
  const status = $metadata?.httpStatusCode ?? $response?.statusCode
  const facts = {
    name: error.name,
    message: error.message,
    status: typeof status === 'number' ? status : null,
  }
  // The client cannot read what a proxy or a gateway says in between, and speaks of its own parser instead.
  if (!(error instanceof SyntaxError)) return facts
  return {
    ...facts,
    name: unreadable,
    message: `HTTP ${facts.status ?? '?'}, not in the words of SES`,
  }
}

const unresolved = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPROTO',
])
const certificateCodes = /^(ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/

/** Unless it is certain that nothing was sent, something was: SendEmail has no token against doing it twice. */
function leftUs(error: unknown): boolean {
  const first = error instanceof AggregateError ? error.errors[0] : error
  if (!(first instanceof Error)) return true
  const { code = '', syscall = '' } = first as { code?: string; syscall?: string }
  if (syscall === 'connect' || syscall === 'getaddrinfo') return false
  if (unresolved.has(code) || certificateCodes.test(code)) return false
  return !/did not establish a connection/.test(first.message)
}

// Errors of AWS End User Messaging and of the way there, as outcomes of a hand-over.
import type { SmsOutcome } from '../../kernel/ports.ts'

type Outcome = Exclude<SmsOutcome, { kind: 'accepted' }>
type Verdict = (message: string) => Outcome

const minutes = 60_000
const later =
  (fault: 'message' | 'transport', retryAfterMs?: number): Verdict =>
  (message) => ({ kind: 'deferred', fault, message, retryAfterMs })
const failed =
  (as: Extract<Outcome, { kind: 'failed' }>['as']): Verdict =>
  (message) => ({ kind: 'failed', as, message })

const throttled = later('transport', 1_000)
// Somebody has to act: the spend limit is reached, the key may not send, the configuration set is gone.
const stopped = later('transport', 10 * minutes)
const unreachable = later('transport', 10_000)
const stumbled = later('message')
const unknown: Verdict = (message) => ({ kind: 'uncertain', message, retryAfterMs: 5 * minutes })

const byName: Record<string, Verdict> = {
  ThrottlingException: throttled,
  TooManyRequestsException: throttled,
  ServiceQuotaExceededException: stopped,
  AccessDeniedException: stopped,
  ResourceNotFoundException: stopped,
  CredentialsProviderError: stopped,
  InternalServerException: stumbled,
  ValidationException: failed('rejected'),
  ConflictException: failed('rejected'),
}

// A name is shared by errors that mean different things.
const byReason: Record<string, Verdict> = {
  DESTINATION_PHONE_NUMBER_OPTED_OUT: failed('blocked'),
  DESTINATION_PHONE_NUMBER_NOT_VERIFIED: stopped,
  DESTINATION_COUNTRY_BLOCKED: failed('rejected'),
  DESTINATION_COUNTRY_BLOCKED_BY_PROTECT_CONFIGURATION: failed('rejected'),
  INVALID_PARAMETER: failed('rejected'),
}

const byStatus: Record<number, Verdict> = {
  400: failed('rejected'),
  401: stopped,
  403: stopped,
  404: stopped,
  429: throttled,
  502: unknown,
  503: unreachable,
  504: unknown,
}

const keyProblem =
  /^(UnrecognizedClient|InvalidSignature|SignatureDoesNotMatch|InvalidClientTokenId|ExpiredToken|IncompleteSignature)/

export function outcomeOf(error: unknown): Outcome {
  const { name, message, status, reason } = read(error)
  const said = `${name}${reason ? ` (${reason})` : ''}: ${message}`.replace(/\s+/g, ' ').slice(0, 500)
  return verdictOn(error, { name, status, reason })(said)
}

type Facts = { name: string; status: number | null; reason: string }

function verdictOn(error: unknown, { name, status, reason }: Facts): Verdict {
  if (keyProblem.test(name)) return stopped
  const told = byReason[reason] ?? byName[name]
  if (told) return told
  if (status === null) return leftUs(error) ? unknown : unreachable
  // Below 400 it took the SMS, and only its answer was cut off.
  return byStatus[status] ?? (status >= 500 ? stumbled : status >= 400 ? failed('rejected') : unknown)
}

function read(error: unknown): Facts & { message: string } {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), status: null, reason: '' }
  const { $metadata, Reason } = error as { $metadata?: { httpStatusCode?: number }; Reason?: unknown }
  return {
    name: error.name,
    message: error.message,
    status: $metadata?.httpStatusCode ?? null,
    reason: typeof Reason === 'string' ? Reason : '',
  }
}

const unresolved =
  /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EPROTO|ERR_TLS_|CERT_|SELF_SIGNED_)/

/** Unless it is certain that nothing was sent, something was. */
function leftUs(error: unknown): boolean {
  const first = error instanceof AggregateError ? error.errors[0] : error
  if (!(first instanceof Error)) return true
  const { code = '', syscall = '' } = first as { code?: string; syscall?: string }
  if (syscall === 'connect' || syscall === 'getaddrinfo' || unresolved.test(code)) return false
  return !/did not establish a connection/.test(first.message)
}

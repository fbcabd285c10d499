// The reasons to say no that every operation shares.
import { Refusal, refusal } from './refusal.ts'

export const unauthorized = refusal({
  code: 'unauthorized',
  kind: 'unauthenticated',
  message: 'The request carries no key.',
  hint: 'Send your key in the header api-key.',
  v3: { message: 'authentication not found in headers' },
})

export const keyUnknown = refusal({
  code: 'unauthorized',
  kind: 'unauthenticated',
  message: 'The key is unknown, expired or revoked.',
  hint: 'Check the value of the header api-key, or make a new key with: posthorn key create',
  v3: { message: 'Key not found' },
})

export const scopeMissing = refusal({
  code: 'scope_missing',
  kind: 'forbidden',
  message: 'The key lacks the scope of this operation.',
})

export const notFound = refusal({ code: 'not_found', kind: 'not_found', message: 'There is no such object.' })

export const pathUnknown = refusal({
  code: 'not_found',
  kind: 'not_found',
  message: 'There is nothing at this path.',
  hint: 'GET /openapi.json lists every path.',
})

export const methodNotAllowed = refusal({
  code: 'method_not_allowed',
  kind: 'method',
  message: 'This path does not take this method.',
})

export const conflict = refusal({
  code: 'conflict',
  kind: 'conflict',
  message: 'The state of the object does not allow this.',
})

export const malformedJson = refusal({
  code: 'malformed_json',
  kind: 'malformed',
  message: 'The body is not valid JSON.',
})

export const malformedRequest = refusal({
  code: 'invalid_parameter',
  kind: 'malformed',
  message: 'The request is not valid HTTP.',
})

export const payloadTooLarge = refusal({
  code: 'payload_too_large',
  kind: 'too_large',
  message: 'The body is larger than this operation takes.',
})

export const unsupportedMediaType = refusal({
  code: 'unsupported_media_type',
  kind: 'unsupported',
  message: 'The body must be JSON.',
  hint: 'Send the header Content-Type: application/json.',
})

export const invalidParameter = refusal({
  code: 'invalid_parameter',
  kind: 'invalid',
  message: 'A parameter is not valid.',
})

export const missingParameter = refusal({
  code: 'missing_parameter',
  kind: 'invalid',
  message: 'A required parameter is missing.',
})

export const unknownParameter = refusal({
  code: 'unknown_parameter',
  kind: 'invalid',
  message: 'A parameter is unknown.',
})

export const confirmationRequired = refusal({
  code: 'confirmation_required',
  kind: 'refused',
  message: 'This cannot be undone: send "confirm": true to go ahead.',
})

export const rateLimited = refusal({
  code: 'rate_limited',
  kind: 'limited',
  message: 'The limit of requests per minute for this operation is reached.',
  hint: 'Wait as many seconds as retry_after_s says (over HTTP also the header Retry-After), then call again.',
})

export const accountBusy = refusal({
  code: 'rate_limited',
  kind: 'limited',
  message: 'This account has so many long requests under way that this one found no place in time.',
  hint: 'Ask for less at once, or wait as many seconds as retry_after_s says and call again.',
})

export const operationClosed = refusal({
  code: 'rate_limited',
  kind: 'limited',
  message: 'This operation is closed to the account: its limit is 0 requests per minute.',
  hint: 'Whoever runs the service can set another limit with: posthorn account limit',
  retryable: false,
})

export const tooManyFailedKeys = refusal({
  code: 'rate_limited',
  kind: 'limited',
  message: 'Too many wrong keys came from this address.',
  hint: 'Check the key, and call again in a minute.',
})

export const idempotencyInProgress = refusal({
  code: 'idempotency_in_progress',
  kind: 'conflict',
  message: 'A call with this Idempotency-Key is still running.',
  hint: 'Call again with the same key and body to get its answer.',
  retryable: true,
})

export const idempotencyKeyReused = refusal({
  code: 'idempotency_key_reused',
  kind: 'invalid',
  message: 'This Idempotency-Key was used with another body.',
  hint: 'Use a new key for a new request, or repeat the first body exactly.',
})

export const databaseUnavailable = refusal({
  code: 'database_unavailable',
  kind: 'unavailable',
  message: 'The database cannot be reached at the moment.',
  hint: 'Call again later; use the same Idempotency-Key to be safe.',
})

export const secretUnopened = refusal({
  code: 'secret_unopened',
  kind: 'unavailable',
  message:
    'A stored secret was sealed with another secret key than this process has: ' +
    'whoever runs the service has to put POSTHORN_SECRET_KEY, or secret-key in the data folder, back.',
  retryable: false,
})

export function isDatabaseDown(error: unknown): boolean {
  return error instanceof Refusal && error.code === databaseUnavailable.declaration.code
}

export const internalError = refusal({
  code: 'internal',
  kind: 'internal',
  message: 'Something went wrong on our side; it has been logged under the request id.',
})

/** What any keyed operation may answer, so that declarations list only their own. */
export const commonRefusals = [
  unauthorized,
  keyUnknown,
  scopeMissing,
  malformedJson,
  malformedRequest,
  payloadTooLarge,
  unsupportedMediaType,
  invalidParameter,
  missingParameter,
  unknownParameter,
  rateLimited,
  accountBusy,
  operationClosed,
  tooManyFailedKeys,
  databaseUnavailable,
  internalError,
]

// From refusals to the two error languages of the HTTP interface.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { codeIn, type Face, ownError, type Refusal, statusOf } from '../../kernel/refusal.ts'
import {
  invalidParameter,
  malformedRequest,
  payloadTooLarge,
  unsupportedMediaType,
} from '../../kernel/refusals.ts'

export type ErrorReply = { status: number; headers: Record<string, string>; body: object }

export function faceOf(url: string): Face {
  return url === '/v3' || url.startsWith('/v3/') || url.startsWith('/v3?') ? 'v3' : 'own'
}

export function errorReply(refusal: Refusal, face: Face, requestId: string): ErrorReply {
  const { declaration, told } = refusal
  const status = statusOf(declaration.kind, face)
  const wait = told.retryAfterSeconds
  const headers: Record<string, string> = { ...told.headers }
  if (wait !== undefined) headers['retry-after'] = String(wait)
  return {
    status,
    headers,
    body: face === 'v3' ? v3Body(refusal, requestId) : ownError(refusal, status, requestId),
  }
}

function v3Body(refusal: Refusal, requestId: string) {
  const { declaration, told } = refusal
  return {
    code: codeIn('v3', declaration),
    message: told.message ?? declaration.v3?.message ?? declaration.message,
    ...told.fields,
    metadata: told.metadata,
    retry_after_s: told.retryAfterSeconds,
    request_id: requestId,
  }
}

export function sendRefusal(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { status, headers, body } = errorReply(refusal, faceOf(request.url), request.id)
  // Set here too, because the framework's own errors pass no hook.
  reply.header('x-request-id', request.id)
  return reply
    .code(status)
    .headers(headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(body))
}

/** What the framework itself finds wrong with a request, in our own words. Anything else is a bug. */
export function refusalOfFramework(error: FastifyError, request: FastifyRequest): Refusal | undefined {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge(request.routeOptions.bodyLimit)
  if (error.code === 'FST_ERR_BAD_URL')
    return invalidParameter({ message: 'The path has a broken percent-encoding.' })
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return otherType(request)
  const isClients = typeof error.statusCode === 'number' && error.statusCode >= 400 && error.statusCode < 500
  if (!isClients) return undefined
  const said = frameworkWords[error.code] ?? 'The request could not be read.'
  return malformedRequest({ message: said })
}

function otherType({ admission }: FastifyRequest): Refusal {
  const upload = admission?.op.upload
  if (!upload) return unsupportedMediaType()
  return unsupportedMediaType({
    message: `The body must be JSON, or a form (multipart/form-data) with the file in the field ${upload.field}.`,
    hint: 'Send the file as a part of a form, not as the body.',
  })
}

/** Unpacked, a small body may be a large one. */
export function refuseEncoded({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding']?.trim() ?? ''
  if (/^(identity)?$/i.test(encoding)) return
  throw unsupportedMediaType({
    message: `The body is sent with Content-Encoding: ${encoding.slice(0, 40)}, which is not taken.`,
    hint: 'Send the body as it is, without compressing it.',
  })
}

function tooLarge(most: number): Refusal {
  return payloadTooLarge({
    message: `The body is larger than the ${most} bytes that this operation takes.`,
    hint: 'Send less in one call: fewer entries, or smaller files.',
  })
}

const frameworkWords: Record<string, string> = {
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as Content-Length says.',
}

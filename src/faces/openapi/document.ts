// OpenAPI 3.1, read off the declared operations. Their schemas are JSON Schema already.
import { type TObject, Type } from 'typebox'
import { areas, meantOperation, type Operation, operationId } from '../../kernel/operation.ts'
import { codeIn, type Face, type RefusalDeclaration, statusOf } from '../../kernel/refusal.ts'
import {
  commonRefusals,
  idempotencyInProgress,
  idempotencyKeyReused,
  notFound,
} from '../../kernel/refusals.ts'
import { shownBody } from './shown-body.ts'

export type About = { version: string; baseUrl: string }

export function openapiDocument(operations: readonly Operation[], { baseUrl }: About) {
  const paths: Record<string, Record<string, object>> = {}
  for (const op of operations) {
    paths[op.path] = { ...paths[op.path], [op.method.toLowerCase()]: describe(op) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Posthorn',
      version: '1.0.0',
      description:
        'An email delivery service. `/api/v1` is its own interface; `/v3` takes the place of a compatible provider.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: areas.filter((area) => operations.some((op) => op.area === area)).map((name) => ({ name })),
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'api-key' } },
      schemas: errorSchemasOf(operations),
    },
  }
}

/** The same with one operation alone: all of them together are more than an agent wants to read. */
export function openapiOf(operations: readonly Operation[], id: string, about: About) {
  const op = operations.find((one) => operationId(one) === id)
  if (op) return openapiDocument([op], about)
  const meant = meantOperation(id, operations.map(operationId))
  throw notFound({
    message: `There is no operation ${id.slice(0, 64)}.${meant ? ` Did you mean ${meant}?` : ''}`,
    param: 'operation',
    hint: 'GET /llms.txt names all.',
  })
}

function describe(op: Operation) {
  return {
    operationId: operationId(op),
    tags: [op.area],
    summary: op.summary,
    description: [op.description, duties(op)].filter(Boolean).join('\n\n'),
    ...(op.public ? { security: [] } : {}),
    parameters: [
      ...parametersOf('path', op.params),
      ...parametersOf('query', op.query),
      ...(op.idempotent ? [idempotencyHeader] : []),
    ],
    ...(op.body ? { requestBody: { required: true, content: contentOf(op) } } : {}),
    responses: { ...successes(op), ...refusals(op) },
    'x-scope': op.scope,
    'x-effect': op.effect,
    'x-requests-per-minute': op.public ? null : op.perMinute,
  }
}

function contentOf(op: Operation) {
  const { upload } = op
  const schema = shownBody(op)
  const json = { 'application/json': { schema } }
  if (!upload) return json
  const { [upload.content]: _, ...others } = schema.properties ?? {}
  const properties = { [upload.field]: { type: 'string', format: 'binary' }, ...others }
  return {
    ...json,
    'multipart/form-data': { schema: { type: 'object', required: [upload.field], properties } },
  }
}

function duties(op: Operation): string {
  if (op.public) return 'Needs no key.'
  const scope = op.scope ? `Scope \`${op.scope}\`` : 'Any valid key'
  const effect = { read: '', dry: ' · changes nothing', change: '', irreversible: ' · **cannot be undone**' }[
    op.effect
  ]
  return `${scope} · ${op.perMinute} requests per minute${effect}`
}

function parametersOf(place: 'path' | 'query', schema: TObject | undefined) {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || ((schema?.required ?? []) as string[]).includes(name),
    schema: property,
  }))
}

const idempotencyHeader = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'The answer is remembered for 24 hours and given again to the same key and body; ' +
    'what a test key called is remembered apart.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

function successes(op: Operation) {
  return Object.fromEntries(
    op.statuses.map((status) => [
      status,
      status === 204 || Type.IsNull(op.reply)
        ? { description: 'Done' }
        : {
            description: op.summary,
            content: { [op.replyType ?? 'application/json']: { schema: op.reply } },
          },
    ]),
  )
}

function refusals(op: Operation) {
  const own = op.idempotent ? [...op.refusals, idempotencyInProgress, idempotencyKeyReused] : op.refusals
  const all = (op.public ? [] : commonRefusals).concat(own).map(({ declaration }) => declaration)
  const byStatus = new Map<number, string[]>()
  for (const declaration of all) {
    const status = statusOf(declaration.kind, op.face)
    byStatus.set(status, [...new Set([...(byStatus.get(status) ?? []), codeIn(op.face, declaration)])])
  }
  const told = [...byStatus].filter(([status]) => !op.statuses.includes(status)).sort(([a], [b]) => a - b)
  return Object.fromEntries(told.map(([status, codes]) => [status, refused(op.face, codes)]))
}

function refused(face: Face, codes: RefusalDeclaration['code'][]) {
  const schema = { $ref: `#/components/schemas/${face === 'v3' ? 'V3Error' : 'Error'}` }
  return { description: codes.join(', '), content: { 'application/json': { schema } } }
}

const text = { type: 'string' }

const ownErrorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'status', 'retryable', 'retry_after_s', 'request_id'],
      properties: {
        code: text,
        message: text,
        status: { type: 'integer' },
        param: text,
        details: {
          type: 'array',
          items: {
            type: 'object',
            required: ['code', 'message'],
            properties: { code: text, message: text, param: text },
          },
        },
        hint: text,
        action: {
          type: 'object',
          properties: { operation: text, method: text, path: text, scope: { type: ['string', 'null'] } },
        },
        retryable: { type: 'boolean' },
        retry_after_s: { type: ['integer', 'null'] },
        request_id: text,
      },
    },
  },
}

const v3ErrorSchema = {
  type: 'object',
  required: ['code', 'message'],
  properties: { code: text, message: text, request_id: text },
}

function errorSchemasOf(operations: readonly Operation[]) {
  const has = (face: Face) => operations.some((op) => op.face === face)
  return { ...(has('own') && { Error: ownErrorSchema }), ...(has('v3') && { V3Error: v3ErrorSchema }) }
}

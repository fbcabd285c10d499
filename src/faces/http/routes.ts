import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Performed } from '../../gates/act.ts'
import { type Admission, admit, admitPublic, type Call, rateHeaders } from '../../gates/admit.ts'
import type { Gates } from '../../gates/gates.ts'
import { perform } from '../../gates/perform.ts'
import type { Operation } from '../../kernel/operation.ts'
import { methodNotAllowed } from '../../kernel/refusals.ts'
import { plainQuery } from '../../kernel/v3/lenient.ts'
import { roomForBody } from './large-bodies.ts'
import { withPlusSigns } from './plus-signs.ts'

declare module 'fastify' {
  interface FastifyRequest {
    admission: Admission | null
    isPerforming: boolean
    refusedWith: string | null
  }
  interface FastifyContextConfig {
    operation?: string
  }
}

/** Both kinds that a page or a mail program posts. */
export const form = /^(application\/x-www-form-urlencoded|multipart\/form-data)\s*(;|$)/i

export function bindOperations(app: FastifyInstance, gates: Gates, operations: Operation[]): void {
  app.decorateRequest('admission', null)
  app.decorateRequest('isPerforming', false)
  app.decorateRequest('refusedWith', null)
  const isPlain = ({ upload, ignoresForms }: Operation) => !upload && !ignoresForms
  for (const op of operations) if (isPlain(op)) app.route(routeFor(gates, op))
  app.register(async (scope) => {
    scope.addContentTypeParser(form, { parseAs: 'buffer' }, async () => undefined)
    for (const op of operations) if (op.ignoresForms) scope.route(routeFor(gates, op))
  })
  refuseOtherMethods(app, operations)
}

export function routeFor(gates: Gates, op: Operation): RouteOptions {
  return {
    method: op.method,
    url: routeOf(op.path),
    bodyLimit: op.maxBodyBytes,
    config: { operation: op.name },
    // Key, scope and rate are settled before the body is read.
    onRequest: (request, reply, done) => {
      forgetTypeOfNothing(request)
      const admitted = (admission: Admission) => {
        request.admission = admission
        if (admission.rate) reply.headers(rateHeaders(admission.rate, op.face))
        const room = roomForBody(gates, { request, reply, caller: admission.caller })
        return room ? room.then(() => done()) : done()
      }
      if (op.public) admitted(admitPublic(gates, op, callOf(request)))
      else admit(gates, op, callOf(request)).then(admitted).catch(done)
    },
    handler: answerer(gates, op),
  }
}

// curl and PHP announce a form where they post nothing.
function forgetTypeOfNothing({ headers }: FastifyRequest): void {
  const isEmpty = (headers['content-length'] ?? '0') === '0' && headers['transfer-encoding'] === undefined
  if (isEmpty) headers['content-type'] = undefined
}

/** A public answer that never changes is given without passing the gates again, which have nothing to ask of it. */
function answerer(gates: Gates, op: Operation) {
  let constant: string | undefined
  const perform = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const performed = await answer(gates, request)
    if (performed.isConstant && request.url === op.path) constant = performed.body
    return send(reply, performed, op.replyType)
  }
  return (request: FastifyRequest, reply: FastifyReply) => {
    if (constant === undefined || request.url !== op.path) return perform(request, reply)
    return reply.type(json).send(constant)
  }
}

async function answer(gates: Gates, request: FastifyRequest): Promise<Performed> {
  if (!request.admission) throw new Error('a request reached its operation without passing the gates')
  request.isPerforming = true
  const { op } = request.admission
  const given = withPlusSigns(request.query, request.url)
  const query = op.face === 'v3' ? plainQuery(given, op.query) : given
  const input = { params: request.params, query, body: request.body }
  return perform(gates, request.admission, input, idempotencyKeyOf(request))
}

const json = 'application/json; charset=utf-8'

function send(reply: FastifyReply, performed: Performed, replyType: string | undefined) {
  const { status, body, headers, replayed } = performed
  if (headers) reply.headers(headers)
  if (replayed) reply.header('idempotency-replayed', 'true')
  reply.code(status)
  if (body === '') return reply.send()
  // What is not JSON is bytes, one to a character.
  if (replyType) return reply.type(replyType).send(Buffer.from(body, 'latin1'))
  return reply.type(json).send(body)
}

export function callOf({ id, ip, headers }: FastifyRequest): Call {
  const given = headers['api-key'] || headers['x-api-key']
  return { apiKey: typeof given === 'string' ? given.trim() : undefined, requestId: id, ip: ip ?? null }
}

function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const given = headers['idempotency-key']
  return typeof given === 'string' ? given : given?.[0]
}

function routeOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Two declarations may name the parts of one place differently: /{id} and /{identifier}. */
function byPlace(operations: Operation[]): Map<string, Operation[]> {
  const places = new Map<string, Operation[]>()
  for (const op of operations) {
    const place = op.path.replaceAll(/\{\w+\}/g, '{}')
    places.set(place, [...(places.get(place) ?? []), op])
  }
  return places
}

function refuseOtherMethods(app: FastifyInstance, operations: Operation[]): void {
  const byPath = byPlace(operations)
  for (const sharing of byPath.values()) {
    const allowed: string[] = sharing.map(({ method }) => method)
    if (allowed.includes('GET')) allowed.push('HEAD')
    const [first] = sharing
    if (!first) continue
    app.route({
      method: methods.filter((method) => !allowed.includes(method)),
      url: routeOf(first.path),
      onRequest: async (request) => {
        throw methodNotAllowed({
          message: `${request.method} Method is not allowed on this path`,
          headers: { allow: allowed.join(', ') },
          hint: `This path takes ${allowed.join(', ')}.`,
        })
      },
      handler: async () => undefined,
    })
  }
}

// Programs in a browser may call /v3 from anywhere: a call proves itself by its key alone, never by a cookie.
import type { FastifyInstance } from 'fastify'

const anywhere = { 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' }
const preflight = {
  'access-control-allow-methods': 'PUT, POST, GET, DELETE, PATCH, OPTIONS',
  'access-control-allow-headers': '*, Authorization',
  'access-control-max-age': '86400',
}

export function allowOrigins(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.url.startsWith('/v3/')) return done()
    reply.headers(anywhere)
    // What clients of the compatible provider look for.
    reply.header('sib-request-id', request.id)
    if (request.method !== 'OPTIONS' || !request.headers['access-control-request-method']) return done()
    void reply.code(204).headers(preflight).send()
  })
}

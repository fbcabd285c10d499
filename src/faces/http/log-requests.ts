// One line per request, by route and operation: never a body, a key, an address or a full path.
import type { FastifyInstance } from 'fastify'
import type { Gates } from '../../gates/gates.ts'
import type { Metrics } from '../metrics/metrics.ts'

export function logRequests(
  app: FastifyInstance,
  { gates, metrics }: { gates: Gates; metrics: Metrics },
): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { admission } = request
    const { operation } = request.routeOptions.config
    const seconds = reply.elapsedTime / 1000
    metrics.countRequest({ operation: operation ?? 'none', status: reply.statusCode, seconds })
    gates.log.info(
      {
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url ?? null,
        operation,
        account: admission?.caller.accountId,
        status: reply.statusCode,
        code: request.refusedWith ?? undefined,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    )
    done()
  })
}

// What machines ask without a key: alive, ready, metrics.
import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { databaseUnavailable, pathUnknown } from '../../kernel/refusals.ts'
import { within } from '../../kernel/within.ts'
import type { Metrics } from '../metrics/metrics.ts'

export type ProbeNeeds = {
  metrics: Metrics
  metricsToken: string | undefined
  /** Resolves when the database answers and the service is not stopping. */
  isReady: () => Promise<void>
}

const readyWithinMs = 1_500

export function serveProbes(app: FastifyInstance, { metrics, metricsToken, isReady }: ProbeNeeds): void {
  app.get('/livez', async () => ({ status: 'ok' }))

  app.get('/readyz', async (_request, reply) => {
    try {
      await within(readyWithinMs, isReady(), databaseUnavailable)
      return { status: 'ok' }
    } catch {
      return reply.code(503).send({ status: 'unavailable' })
    }
  })

  app.get('/metrics', async (request, reply) => {
    if (!maySeeMetrics(request, metricsToken)) throw pathUnknown()
    return reply.type(metrics.contentType).send(await metrics.text())
  })
}

/** With a token: whoever sends it. Without: only this machine, and nobody a proxy on it speaks for. */
function maySeeMetrics(request: FastifyRequest, token: string | undefined): boolean {
  if (token !== undefined) {
    const sent = hash('sha256', request.headers.authorization ?? '', 'buffer')
    return timingSafeEqual(sent, hash('sha256', `Bearer ${token}`, 'buffer'))
  }
  const from = request.socket.remoteAddress ?? ''
  const isLoopback = from === '::1' || /^(::ffff:)?127\./.test(from)
  return isLoopback && !request.headers['x-forwarded-for'] && !request.headers.forwarded
}

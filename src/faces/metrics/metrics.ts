// The only file that knows the metrics library.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { within } from '../../kernel/within.ts'

export type Metrics = {
  countRequest(request: { operation: string; status: number; seconds: number }): void
  /** A figure that is read when somebody asks; one that cannot be read is not shown. */
  gauge(figure: Figure): void
  text(): Promise<string>
  contentType: string
}

export type Figure = {
  name: string
  help: string
  labels?: Record<string, string>[]
  read: (labels: Record<string, string>) => Promise<number>
}

// Whoever watches gives up after some seconds, and would lose what this process knows by itself.
const readWithinMs = 2_000

export function openMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'posthorn_requests_total',
    help: 'Requests by operation and status',
    labelNames: ['operation', 'status'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'posthorn_request_seconds',
    help: 'Time to answer by operation',
    labelNames: ['operation'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers: [registry],
  })
  // Finding a series by its labels costs more than counting in it.
  const countOf = remembered((operation: string, status: number) =>
    requests.labels(operation, String(status)),
  )
  const durationOf = remembered((operation: string) => durations.labels(operation))
  return {
    countRequest({ operation, status, seconds }) {
      countOf(operation, status).inc()
      durationOf(operation).observe(seconds)
    },
    gauge({ name, help, labels = [{}], read }) {
      new Gauge({
        name,
        help,
        labelNames: Object.keys(labels[0] ?? {}),
        registers: [registry],
        async collect() {
          const tooLate = () => new Error('it took too long')
          const values = await Promise.allSettled(
            labels.map((one) => within(readWithinMs, read(one), tooLate)),
          )
          for (const [n, found] of values.entries()) {
            if (found.status === 'fulfilled') this.set(labels[n] ?? {}, found.value)
            else this.remove(labels[n] ?? {})
          }
        },
      })
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

function remembered<A extends (string | number)[], T>(find: (...labels: A) => T): (...labels: A) => T {
  const known = new Map<string, T>()
  return (...labels) => {
    const name = labels.join(' ')
    const found = known.get(name) ?? find(...labels)
    known.set(name, found)
    return found
  }
}

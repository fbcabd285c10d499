// What whoever runs the service watches: how much waits, and for how long. Read from the database, so that every
// process that answers tells the same.
import { type Metrics, openMetrics } from '../faces/metrics/metrics.ts'
import { readBacklog } from '../features/messages/backlog-queries.ts'
import { lanes, type Stream } from '../features/messages/model.ts'
import { readWebhookBacklog } from '../features/webhooks/health-queries.ts'
import type { Db } from '../kernel/db.ts'

const streams = Object.keys(lanes).map((stream) => ({ stream }))

export function openServiceMetrics(db: Db): Metrics {
  const metrics = openMetrics()
  metrics.gauge({
    name: 'posthorn_queue_due_messages',
    help: 'Messages that could be handed over now, up to 100,000',
    labels: streams,
    read: async ({ stream }) => (await readBacklog(db, stream as Stream)).depth,
  })
  metrics.gauge({
    name: 'posthorn_queue_oldest_seconds',
    help: 'How long the oldest of them has been due, or one that was tried waits since it was accepted',
    labels: streams,
    read: async ({ stream }) => (await readBacklog(db, stream as Stream)).oldest_s,
  })
  metrics.gauge({
    name: 'posthorn_webhook_due_events',
    help: 'Webhook calls that could be made now, up to 100,000',
    read: async () => (await readWebhookBacklog(db)).depth,
  })
  metrics.gauge({
    name: 'posthorn_webhook_oldest_seconds',
    help: 'How long the oldest of them has been due',
    read: async () => (await readWebhookBacklog(db)).oldest_s,
  })
  metrics.gauge({
    name: 'posthorn_webhooks_failing',
    help: 'Webhooks whose last call was not taken',
    read: async () => (await readWebhookBacklog(db)).failing,
  })
  return metrics
}

// Everything that goes on without a request: deliveries, webhooks, watched mailboxes, recurring work.
import { openGuardedClient } from '../adapters/guarded-http/guarded-http.ts'
import type { TrackingKeys } from '../features/messages/tracking/tokens.ts'
import { startJobs } from '../kernel/job.ts'
import type { Log } from '../kernel/log.ts'
import type { Config } from './config.ts'
import { openDelivery } from './delivery.ts'
import { domainNeeds } from './domain-operations.ts'
import { filesThrough, jobsFor } from './jobs.ts'
import { openUnsubscribeKeys } from './link-keys.ts'
import { openMediaJob } from './media.ts'
import { openWatching, outreachJobsFor } from './outreach.ts'
import { openSmsDelivery } from './sms.ts'
import { stopTogether } from './stop.ts'
import { clientOf, openWebhooks } from './webhooks.ts'
import { dnsOf, type Pools } from './wire.ts'

export type Workers = { wake(): void; stop(): Promise<void> }

export type WorkerNeeds = {
  config: Config
  pools: Pools
  log: Log
  trackingKeys: TrackingKeys
  baseUrl: string
}

export async function startWorkers(needs: WorkerNeeds): Promise<Workers> {
  const { config, pools, log, trackingKeys, baseUrl } = needs
  const { db } = pools
  const now = () => new Date()
  const delivery = await openDelivery({ config, log, trackingKeys, baseUrl, db, now })
  const { transport, wake } = delivery
  const unsubscribeKeys = openUnsubscribeKeys(config)
  const domains = domainNeeds(config, { dns: dnsOf(config), log })
  const files = filesThrough(openGuardedClient({ allowPrivate: false }), clientOf(config))
  const kept = { auditDays: config.auditDays, contentDays: config.contentDays }
  const jobs = jobsFor({ transport, log, now, baseUrl, unsubscribeKeys, domains, ...kept, wake, files })
  const outreach = outreachJobsFor(config, { log, now, baseUrl })
  const running = startJobs([...jobs, ...outreach, openMediaJob(config, log)], { db, log, now })
  const webhooks = openWebhooks({ config, pools, log, now, baseUrl })
  const sms = await openSmsDelivery({ config, db, log, now })
  const watching = openWatching(config, { db, log, now })
  return {
    wake() {
      delivery.wake()
      sms.wake()
    },
    stop: () =>
      stopTogether(
        [watching, running, webhooks, sms, delivery].map((part) => () => part.stop()),
        log,
      ),
  }
}

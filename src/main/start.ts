// The service from start to stop.
import { ensureFirstAccount } from '../features/accounts/account/first-account.ts'
import { startJobs } from '../kernel/job.ts'
import { type Log, openLog } from '../kernel/log.ts'
import { baseUrlOf, type Config, refuseSamePorts, unknownVariables } from './config.ts'
import { ensureDataFolder } from './data-folder.ts'
import { migrateOpened, type OpenedDatabase, openDatabase } from './database.ts'
import { openDelivery } from './delivery.ts'
import { domainNeeds } from './domain-operations.ts'
import { jobsFor } from './jobs.ts'
import { openUnsubscribeKeys } from './link-keys.ts'
import { openMediaJob } from './media.ts'
import { openWatching, outreachJobsFor } from './outreach.ts'
import { relayAddress, relayFacts, startRelay } from './relay.ts'
import { openSecretKeys, strangeKeys } from './secret-key.ts'
import { listenFault, resolverAddresses } from './setting-faults.ts'
import { openSmsDelivery } from './sms.ts'
import { sparePort } from './spare-port.ts'
import { openWebhooks } from './webhooks.ts'
import { dnsOf, openPools, openService, openTrackingKeys, type Pools } from './wire.ts'

export const roles = ['api', 'smtp', 'worker'] as const
export type Role = (typeof roles)[number]

export type Running = {
  url: string | undefined
  /** host:port of the relay. */
  smtp: string | undefined
  /** Only on the very first start without POSTHORN_API_KEY. */
  madeKey: string | null
  database: OpenedDatabase['kind']
  stop(): Promise<void>
}

export type StartOptions = { config: Config; roles: readonly Role[] }

export async function start({ config: given, roles }: StartOptions): Promise<Running> {
  const log = openLog(given.logLevel)
  for (const warning of unknownVariables()) log.warn(warning)
  await ensureDataFolder(given.dataDir)
  const config = { ...given, dns: await resolverAddresses(given.dns) }
  refuseSamePorts(config, { http: roles.includes('api'), smtp: roles.includes('smtp') })
  const database = await openDatabase(config, 'service', log)
  const stops: Stop[] = [() => database.close()]
  try {
    const { applied } = await migrateOpened(database)
    if (applied.length > 0) log.info({ applied }, 'database migrated')
    const pools = openPools({ url: database.url, log, strict: false })
    stops.push(() => pools.close())
    const { madeKey } = await ensureFirstAccount(pools.db, config.apiKey)
    const fault = await strangeKeys(pools.db, openSecretKeys(config))
    if (fault) log.error(fault)
    const { url, smtp } = await startRoles({ config, roles, pools, log, stops })
    log.info({ roles, database: database.kind, url, smtp }, 'started')
    return { url, smtp, madeKey, database: database.kind, stop: () => stopAll(stops, log) }
  } catch (error) {
    await stopAll(stops, log)
    throw error
  }
}

type Stop = () => Promise<void>
type Addresses = Pick<Running, 'url' | 'smtp'>
type Parts = StartOptions & { pools: Pools; log: Log; stops: Stop[] }

/** Gives the addresses of the HTTP interface and of the relay when this process serves them. */
async function startRoles({ config, roles, pools, log, stops }: Parts): Promise<Addresses> {
  // Links in answers and messages carry the port, so it must be known first.
  const port = config.port || (await sparePort(config.host))
  const baseUrl = baseUrlOf(config, port)
  const trackingKeys = await openTrackingKeys(pools.db)
  const shared = { config, log, trackingKeys, baseUrl }
  const now = () => new Date()
  let wake: (() => void) | undefined
  if (roles.includes('worker')) {
    const delivery = await openDelivery({ ...shared, db: pools.db, now })
    const { transport } = delivery
    const unsubscribeKeys = openUnsubscribeKeys(config)
    const domains = domainNeeds(config, { dns: dnsOf(config), log })
    const { auditDays } = config
    const about = { transport, log, now, baseUrl, unsubscribeKeys, domains, auditDays }
    const jobs = jobsFor({ ...about, wake: delivery.wake })
    const outreach = outreachJobsFor(config, { log, now, baseUrl })
    const all = [...jobs, ...outreach, openMediaJob(config, log)]
    const running = startJobs(all, { db: pools.db, log, now })
    const webhooks = openWebhooks({ config, pools, log, now })
    const sms = await openSmsDelivery({ config, db: pools.db, log, now })
    const watching = openWatching(config, { db: pools.db, log, now })
    stops.push(delivery.stop, sms.stop, webhooks.stop, running.stop, watching.stop)
    wake = () => {
      delivery.wake()
      sms.wake()
    }
  }
  // Where this process runs no relay, another one with the same settings does.
  let relay = relayFacts(config)
  if (roles.includes('smtp')) {
    const running = await startRelay({ config, pools, log, strict: false, afterAct: wake })
    stops.push(() => running.close())
    relay = { ...relay, port: running.port }
  }
  const smtp = roles.includes('smtp') ? relayAddress(relay) : undefined
  if (!roles.includes('api')) return { url: undefined, smtp }
  const service = await openService({ ...shared, pools, strict: false, afterAct: wake, relay })
  stops.push(async () => {
    service.beginStopping()
    await service.http.close()
  })
  await service.http.listen(config.host, port).catch(listenFault(config.host, { POSTHORN_PORT: port }))
  return { url: baseUrl, smtp }
}

// In the reverse of the order of starting: first no new requests, last no database.
async function stopAll(stops: Stop[], log: Log): Promise<void> {
  for (const stop of [...stops].reverse()) {
    await stop().catch((error) => log.error({ err: error }, 'stopping'))
  }
  log.info('stopped')
}

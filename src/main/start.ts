// The service from start to stop.
import { ensureFirstAccount } from '../features/accounts/account/first-account.ts'
import type { Delivery } from '../features/messages/deliver.ts'
import { startJobs } from '../kernel/job.ts'
import { type Log, openLog } from '../kernel/log.ts'
import { baseUrlOf, type Config, unknownVariables } from './config.ts'
import { type OpenedDatabase, openDatabase } from './database.ts'
import { openDelivery } from './delivery.ts'
import { jobs } from './jobs.ts'
import { migrate } from './migrate.ts'
import { sparePort } from './spare-port.ts'
import { openPools, openService, type Pools } from './wire.ts'

export const roles = ['api', 'worker'] as const
export type Role = (typeof roles)[number]

export type Running = {
  url: string | undefined
  /** Only on the very first start without POSTHORN_API_KEY. */
  madeKey: string | null
  database: OpenedDatabase['kind']
  stop(): Promise<void>
}

export type StartOptions = { config: Config; roles: readonly Role[] }

export async function start({ config, roles }: StartOptions): Promise<Running> {
  const log = openLog(config.logLevel)
  for (const warning of unknownVariables()) log.warn(warning)
  const database = await openDatabase(config, 'service', log)
  const stops: (() => Promise<void>)[] = [() => database.close()]
  try {
    const { applied } = await migrate(database.url)
    if (applied.length > 0) log.info({ applied }, 'database migrated')
    const pools = openPools({ url: database.url, log, strict: false })
    stops.push(() => pools.close())
    const { madeKey } = await ensureFirstAccount(pools.db, config.apiKey)
    if (roles.includes('worker')) {
      const running = startJobs(jobs, { db: pools.db, log, now: () => new Date() })
      stops.push(() => running.stop())
    }
    const delivery = roles.includes('worker')
      ? openDelivery({ config, db: pools.db, log, now: () => new Date() })
      : undefined
    if (delivery) stops.push(() => delivery.stop())
    const served = roles.includes('api') ? await serve({ config, pools, log, delivery }) : undefined
    if (served) stops.push(served.stop)
    log.info({ roles, database: database.kind, url: served?.url }, 'started')
    return { url: served?.url, madeKey, database: database.kind, stop: () => stopAll(stops, log) }
  } catch (error) {
    await stopAll(stops, log)
    throw error
  }
}

type Served = { config: Config; pools: Pools; log: Log; delivery: Delivery | undefined }

async function serve({ config, pools, log, delivery }: Served) {
  // Links in answers carry the port, so it must be known before the service is put together.
  const port = config.port || (await sparePort(config.host))
  const url = baseUrlOf(config, port)
  const service = await openService({
    config,
    pools,
    log,
    strict: false,
    baseUrl: url,
    afterAct: delivery?.wake,
  })
  await service.http.listen(config.host, port)
  return {
    url,
    stop: async () => {
      service.beginStopping()
      await service.http.close()
    },
  }
}

// In the reverse of the order of starting: first no new requests, last no database.
async function stopAll(stops: (() => Promise<void>)[], log: Log): Promise<void> {
  for (const stop of [...stops].reverse()) {
    await stop().catch((error) => log.error({ err: error }, 'stopping'))
  }
  log.info('stopped')
}

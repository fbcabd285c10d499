// The service from start to stop.
import { ensureFirstAccount } from '../features/accounts/account/first-account.ts'
import { type Log, openLog } from '../kernel/log.ts'
import { readClock } from './clock-queries.ts'
import { clocksApart, howToSetClocks } from './clocks.ts'
import { baseUrlOf, type Config, refuseSamePorts, unknownVariables } from './config.ts'
import { ensureDataFolder } from './data-folder.ts'
import { migrateOpened, type OpenedDatabase, openDatabase } from './database.ts'
import { keepHeapSmall } from './heap.ts'
import { relayAddress, relayFacts, startRelay } from './relay.ts'
import { openSecretKeys, strangeKeys } from './secret-key.ts'
import { listenFault, resolverAddresses } from './setting-faults.ts'
import { sparePort } from './spare-port.ts'
import { type Stop, stopInTurn, stopTogether } from './stop.ts'
import { openPools, openService, openTrackingKeys, type Pools } from './wire.ts'
import { startWorkers, type Workers } from './workers.ts'

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
  keepHeapSmall()
  const log = openLog(given.logLevel)
  for (const warning of unknownVariables()) log.warn(warning)
  await ensureDataFolder(given.dataDir)
  const config = { ...given, dns: await resolverAddresses(given.dns) }
  refuseSamePorts(config, { http: roles.includes('api'), smtp: roles.includes('smtp') })
  const database = await openDatabase(config, 'service', log)
  const stops: Stop[] = [() => database.close()]
  try {
    const { applied } = await migrateOpened(database, (line) => log.warn(line))
    if (applied.length > 0) log.info({ applied }, 'database migrated')
    const pools = openPools({ url: database.url, log, strict: false })
    stops.push(() => pools.close())
    const { apiKey } = config
    if (apiKey !== undefined) await ensureFirstAccount(pools.db, apiKey)
    const fault = await strangeKeys(pools.db, openSecretKeys(config))
    if (fault) log.error(fault)
    const apart = await clocksApart(() => readClock(pools.db))
    if (apart) log.warn(`${apart}. ${howToSetClocks}`)
    const { url, smtp } = await startRoles({ config, roles, pools, log, stops })
    // Last: a key is shown once, and a start that fails shows nothing.
    const { madeKey } = apiKey === undefined ? await ensureFirstAccount(pools.db, apiKey) : { madeKey: null }
    log.info({ roles, database: database.kind, url, smtp }, 'started')
    const stop = async () => {
      await stopInTurn(stops, log)
      log.info('stopped')
    }
    return { url, smtp, madeKey, database: database.kind, stop }
  } catch (error) {
    await stopInTurn(stops, log)
    throw error
  }
}

type Addresses = Pick<Running, 'url' | 'smtp'>
type Parts = StartOptions & { pools: Pools; log: Log; stops: Stop[] }

/** Gives the addresses of the HTTP interface and of the relay when this process serves them. */
async function startRoles({ config, roles, pools, log, stops }: Parts): Promise<Addresses> {
  // Links in answers and messages carry the port, so it must be known first.
  const misheard = (port: number) => listenFault(config.host, { POSTHORN_PORT: port })
  const port = config.port || (await sparePort(config.host).catch(misheard(0)))
  const baseUrl = baseUrlOf(config, port)
  const shared = { config, log, trackingKeys: await openTrackingKeys(pools.db), baseUrl, pools }
  let workers: Workers | undefined
  const afterAct = () => workers?.wake()
  // All at once: what is accepted meanwhile waits in the database.
  const parts: Stop[] = [async () => workers?.stop()]
  stops.push(() => stopTogether(parts, log))
  // Where this process runs no relay, another one with the same settings does.
  let relay = relayFacts(config)
  if (roles.includes('smtp')) {
    const running = await startRelay({ config, pools, log, strict: false, afterAct })
    parts.push(() => running.close())
    relay = { ...relay, port: running.port }
  }
  const smtp = roles.includes('smtp') ? relayAddress(relay) : undefined
  const service = roles.includes('api')
    ? await openService({ ...shared, strict: false, afterAct, relay })
    : undefined
  parts.push(async () => {
    service?.beginStopping()
    await service?.http.close()
  })
  // Only now: putting the service together keeps the thread busy, for seconds on a slow machine, and whoever waits
  // for a connection to the database meanwhile would run out of time.
  if (roles.includes('worker')) workers = await startWorkers(shared)
  if (!service) return { url: undefined, smtp }
  await service.http.listen(config.host, port).catch(misheard(port))
  return { url: baseUrl, smtp }
}

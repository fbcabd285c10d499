// Puts the service together: pools, gates, operations, HTTP. Nothing is made at import time.
import { randomBytes } from 'node:crypto'
import { type GuardedRequests, openGuardedClient } from '../adapters/guarded-http/guarded-http.ts'
import { openDns } from '../adapters/system-dns/system-dns.ts'
import { type HttpFace, openHttp } from '../faces/http/server.ts'
import type { Relay } from '../features/accounts/account/api.v3.ts'
import { ensureInstallation } from '../features/accounts/account/queries.ts'
import type { FindUnsubscribeKeys } from '../features/contacts/unsubscribe/tokens.ts'
import type { Probes } from '../features/discovery/health.ts'
import { pingDatabase } from '../features/discovery/health.ts'
import { mediaLimits } from '../features/media/limits.ts'
import { queueDepth } from '../features/messages/queries.ts'
import { ensureTrackingKeys } from '../features/messages/tracking/queries.ts'
import type { TrackingKeys } from '../features/messages/tracking/tokens.ts'
import { findUpstreamState } from '../features/messages/upstream-state-queries.ts'
import type { FindOptinKeys } from '../features/transactional/double-optin/tokens.ts'
import { openGates } from '../gates/gates.ts'
import { type Db, openPool, type PooledDb } from '../kernel/db.ts'
import type { Log } from '../kernel/log.ts'
import type { Operation } from '../kernel/operation.ts'
import { isTooSlow, isUnwritable } from '../kernel/outage.ts'
import type { Dns, FileStorage } from '../kernel/ports.ts'
import type { Config } from './config.ts'
import { inFlightMessages } from './delivery.ts'
import { domainNeeds } from './domain-operations.ts'
import { openHooks } from './hooks.ts'
import { openOptinKeys, openUnsubscribeKeys } from './link-keys.ts'
import { openMediaStorage } from './media.ts'
import { openServiceMetrics } from './metrics.ts'
import { declareOperations } from './operations.ts'
import { mailboxNeeds } from './outreach.ts'
import { packageVersion } from './package-root.ts'
import { openSecretKeys } from './secret-key.ts'
import { smsNeedsOf } from './sms.ts'
import { openSmsHooks } from './sms-hooks.ts'
import { readTransportUrl, takesMarketing } from './transport-url.ts'
import { targetCheck } from './webhooks.ts'

export type Pools = {
  db: PooledDb
  reads: PooledDb
  quick: PooledDb
  /** Why the database took no write of late, in its own words. */
  refusedWrites(): string | undefined
  close(): Promise<void>
}

export type PoolNeeds = { url: string; log: Log; strict: boolean }

// Every call writes its line into the action log: a disk that is still full shows itself again.
const refusedOfLateMs = 30_000

export function openPools({ url, log, strict }: PoolNeeds): Pools {
  // Its words alone: the driver hangs the whole connection on the error, with every statement.
  const onError = ({ message }: Error) => log.warn({ reason: message }, 'database connection lost')
  let refused = { reason: '', at: Number.NEGATIVE_INFINITY }
  const onOutage = (err: Error, reason: Error) => {
    if (isUnwritable(reason)) refused = { reason: reason.message, at: performance.now() }
    if (isTooSlow(reason)) return
    log.error({ err }, isUnwritable(reason) ? 'the database takes no writes' : 'the database cannot be used')
  }
  const shared = { url, checkRows: strict, onError, onOutage }
  const db = openPool({ ...shared, max: 10, name: 'posthorn', durable: true })
  const reads = openPool({ ...shared, max: 5, name: 'posthorn reads', durable: true })
  const quick = openPool({ ...shared, max: 3, name: 'posthorn quick', durable: false })
  return {
    db,
    reads,
    quick,
    refusedWrites: () => (performance.now() - refused.at < refusedOfLateMs ? refused.reason : undefined),
    close: async () => {
      await Promise.all([db.close(), reads.close(), quick.close()])
    },
  }
}

export type ServiceNeeds = {
  config: Config
  pools: Pools
  log: Log
  baseUrl: string
  /** Under test: replies and refusals are held against their declarations. */
  strict: boolean
  trackingKeys: TrackingKeys
  now?: () => Date
  /** Told after each committed act. */
  afterAct?: () => void
  /** Where clients find the SMTP relay. */
  relay?: Relay
  /** Under test: the way to the certificates and confirmations of upstream feedback. */
  hookClient?: GuardedRequests
  /** Under test: the way to addresses that callers name. */
  fetchClient?: GuardedRequests
  /** Under test: another place for images than the configuration names. */
  storage?: FileStorage
  /** Under test: operations of the test's own beside the declared ones. */
  extraOperations?: Operation[]
}

export type Service = { http: HttpFace; operations: Operation[]; beginStopping(): void }

export async function openService(needs: ServiceNeeds): Promise<Service> {
  const { config, pools, log, baseUrl, strict } = needs
  const { cursor_key } = await ensureInstallation(pools.db, randomBytes(32))
  const version = packageVersion()
  const now = needs.now ?? (() => new Date())
  const unsubscribeKeys = openUnsubscribeKeys(config)
  const optinKeys = openOptinKeys(config)
  const storage = needs.storage ?? openMediaStorage(config)
  const operations = operationsOf(needs, { version, unsubscribeKeys, optinKeys, storage })
  const gates = openGates(operations, {
    db: pools.db,
    reads: pools.reads,
    quick: pools.quick,
    log,
    now,
    cursorKey: cursor_key,
    takesMarketing: takesMarketing(readTransportUrl(config.transport)),
    rateFactor: config.rateLimitFactor,
    afterAct: (op) => op.effect === 'irreversible' && needs.afterAct?.(),
    strict,
  })
  let isStopping = false
  const http = await openHttp({
    gates,
    operations,
    version,
    baseUrl,
    trackingKeys: needs.trackingKeys,
    unsubscribeKeys,
    optinKeys,
    ...hooksOf(needs),
    metrics: openServiceMetrics(pools.db),
    storage,
    metricsToken: config.metricsToken,
    trustedProxies: config.trustedProxies,
    isReady: async () => {
      if (isStopping) throw new Error('stopping')
      await pingDatabase(pools.db)
    },
  })
  const beginStopping = () => {
    isStopping = true
  }
  return { http, operations, beginStopping }
}

type Made = {
  version: string
  unsubscribeKeys: FindUnsubscribeKeys
  optinKeys: FindOptinKeys
  storage: FileStorage
}

function operationsOf(needs: ServiceNeeds, made: Made): Operation[] {
  const { config, log, baseUrl, relay = { enabled: false, host: '', port: 0 } } = needs
  const dns = dnsOf(config)
  const secretKeys = openSecretKeys(config)
  const client = needs.fetchClient ?? openGuardedClient({ allowPrivate: false })
  return declareOperations({
    extraOperations: needs.extraOperations,
    fetchAttachment: fetchWith(client, largestAttachment),
    media: { storage: made.storage, log, fetchImage: fetchWith(client, mediaLimits.fileBytes) },
    dns,
    domains: domainNeeds(config, { dns, log }),
    probes: probesOf(config, needs.pools),
    relay,
    ...made,
    secretKeys,
    baseUrl,
    rateFactor: config.rateLimitFactor,
    inFlightMessages: inFlightMessages(config.transport),
    webhooks: { secretKeys, checkTarget: targetCheck(config) },
    sms: smsNeedsOf(config),
    mailboxes: mailboxNeeds(config),
  })
}

export function dnsOf({ dns }: Pick<Config, 'dns'>): Dns {
  return openDns({ servers: dns })
}

const largestAttachment = 20 * 1024 * 1024

const fetchWith = (client: GuardedRequests, largest: number) => async (url: string, mostBytes?: number) => {
  const maxBytes = Math.min(largest, mostBytes ?? largest)
  const { status, body } = await client.request({ url, maxBytes, timeoutMs: 15_000 })
  if (status !== 200) throw new Error(`it answered ${status}`)
  return body
}

function hooksOf({ config, hookClient, log }: ServiceNeeds) {
  const client = hookClient ?? openGuardedClient({ allowPrivate: false })
  const needs = { topics: config.snsTopics ?? [], client, log }
  return { hooks: openHooks(needs), smsHooks: openSmsHooks(needs, config.ovhHookToken) }
}

const kindOf = (transport: string) => transport.split(':')[0] ?? transport

function probesOf(config: Config, { refusedWrites }: Pools): Probes {
  const kinds = {
    transport: readTransportUrl(config.transport).kind,
    smsTransport: kindOf(config.smsTransport),
  }
  return {
    kinds,
    refusedWrites,
    queue: ({ db }) => queueDepth(db),
    transport: ({ db }) => stateOf(db, kinds.transport),
    // Nobody watches how SMS are taken; what is captured cannot fail.
    smsTransport: async () => ({
      kind: kinds.smsTransport,
      state: kinds.smsTransport === 'capture' ? 'ok' : 'unknown',
    }),
  }
}

/** As the last messages that were handed over showed. */
async function stateOf(db: Db, kind: string): Promise<Awaited<ReturnType<Probes['transport']>>> {
  if (kind === 'capture') return { kind, state: 'ok' }
  const found = await findUpstreamState(db, kind)
  if (!found) return { kind, state: 'unknown' }
  if (!found.failing) return { kind, state: 'ok' }
  return { kind, state: 'failing', since: found.since.toISOString(), message: found.said ?? '' }
}

/** Shared by the faces that read tracking links and the engine that writes them. */
export async function openTrackingKeys(db: Db): Promise<TrackingKeys> {
  const rows = await ensureTrackingKeys(db, randomBytes(32))
  const current = rows.at(-1)
  if (!current) throw new Error('there is no tracking key')
  return { current, all: new Map(rows.map(({ id, key }) => [id, key])) }
}

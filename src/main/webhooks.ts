// The way from webhooks to the world: the guarded client, with the resolvers of the configuration.
import { isIPv6 } from 'node:net'
import { GuardedFault } from '../adapters/guarded-http/fault.ts'
import {
  type GuardedRequests,
  openGuardedClient,
  type Resolve,
} from '../adapters/guarded-http/guarded-http.ts'
import { openDns } from '../adapters/system-dns/system-dns.ts'
import type { Post } from '../features/webhooks/call.ts'
import { startWebhookDelivery, type WebhookDelivery } from '../features/webhooks/deliver.ts'
import type { Log } from '../kernel/log.ts'
import type { CheckTarget } from '../kernel/v3/url.ts'
import type { Config } from './config.ts'
import { openUnsubscribeKeys } from './link-keys.ts'
import { packageVersion } from './package-root.ts'
import { openSecretKeys } from './secret-key.ts'
import type { Pools } from './wire.ts'

type ClientConfig = Pick<Config, 'dns' | 'webhookAllowPrivate'>

/** Also for what else callers want to be told of. */
export function clientOf({ dns, webhookAllowPrivate }: ClientConfig) {
  return openGuardedClient({
    allowPrivate: webhookAllowPrivate,
    ...(dns && { resolve: resolveThrough(dns) }),
    userAgent: `Posthorn/${packageVersion()}`,
    // One receiver's slow calls must not keep another's at the same host: each webhook has a limit of its own.
    connections: null,
  })
}

/** Without resolvers of its own the service asks the system, which knows more than DNS. */
export function resolveThrough(servers: string[]): Resolve {
  const dns = openDns({ servers })
  return async (host) => {
    // RFC 6761: never asked of a resolver.
    if (/(^|\.)localhost\.?$/i.test(host)) return [{ address: '127.0.0.1', family: 4 }]
    const found = await dns.addresses(host)
    if (!Array.isArray(found))
      throw new Error(found === 'none' ? 'the name has no address' : 'DNS did not answer')
    return found.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  }
}

/** A name that leads nowhere may do so later, and every connection is checked. */
export function targetCheck(config: ClientConfig): CheckTarget {
  const client = clientOf(config)
  return async (url) => {
    try {
      await client.check(url)
    } catch (error) {
      const isRefused = error instanceof GuardedFault && ['blocked', 'invalid_url'].includes(error.code)
      if (isRefused) return error.message
    }
    return undefined
  }
}

const largestAnswer = 16 * 1024
// Whether the event was taken is said by the status; of the rest a beginning is kept, if at all.
const bodyMs = 1_000
const method = 'POST' as const

const postThrough =
  (client: GuardedRequests): Post =>
  async ({ url, usual, headers: own, body: told, timeoutMs }) => {
    try {
      // Named one by one: to spread them takes longer than to write the request. Receivers know a call by its id.
      const wanted = {
        url,
        method,
        usual,
        headers: own,
        body: told,
        timeoutMs,
        maxBytes: largestAnswer,
        bodyMs,
        repeatable: true,
      }
      const { status, headers, body } = await client.request(wanted)
      return { status, retryAfter: headers['retry-after'], body }
    } catch (error) {
      // It has answered, although not with all of a head.
      if (error instanceof GuardedFault && error.status !== null)
        return { status: error.status, retryAfter: undefined, body: Buffer.alloc(0) }
      throw error
    }
  }

export type WebhookOptions = {
  config: ClientConfig & Pick<Config, 'retryFactor' | 'leaseSeconds' | 'secretKey' | 'dataDir'>
  pools: Pools
  log: Log
  now: () => Date
  baseUrl: string
}

const longestLeaseSeconds = 60

export function openWebhooks({ config, pools, log, now, baseUrl }: WebhookOptions): WebhookDelivery {
  const client = clientOf(config)
  return startWebhookDelivery({
    db: pools.db,
    quick: pools.quick,
    log,
    now,
    retryFactor: config.retryFactor,
    leaseSeconds: Math.min(longestLeaseSeconds, config.leaseSeconds),
    secretKeys: openSecretKeys(config),
    unsubscribeKeys: openUnsubscribeKeys(config),
    baseUrl,
    post: postThrough(client),
    close: () => client.close(),
  })
}

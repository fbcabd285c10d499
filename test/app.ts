// The service on a database of its own, over real sockets.
import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import pg from 'pg'
import { insertAccount } from '../src/features/accounts/account/queries.ts'
import { type KeyRestrictions, makeKey, unrestricted } from '../src/features/accounts/keys/make-key.ts'
import type { TrackingKeys } from '../src/features/messages/tracking/tokens.ts'
import { type Log, silentLog } from '../src/kernel/log.ts'
import type { Operation } from '../src/kernel/operation.ts'
import { type Config, readConfig } from '../src/main/config.ts'
import { openDelivery } from '../src/main/delivery.ts'
import { openSmsDelivery } from '../src/main/sms.ts'
import { openWebhooks } from '../src/main/webhooks.ts'
import { openPools, openService, openTrackingKeys, type Pools, type ServiceNeeds } from '../src/main/wire.ts'

const server = process.env.POSTHORN_TEST_SERVER ?? ''
if (!server) throw new Error('run the tests with: npm test [-- FILE…]')

/** A resolver that refuses at once: no test asks the world. */
const nobodyAnswers = '127.0.0.1:9'

/** A copy of the migrated template; dropped when the file's tests are over. */
export async function makeDatabase(): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await onServer(`create database ${name} template posthorn`)
  after(() => onServer(`drop database ${name} with (force)`))
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

async function onServer(statement: string): Promise<void> {
  const url = new URL(server)
  // Not the template itself: nobody may be connected to it while it is copied.
  url.pathname = '/postgres'
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  await client.query(statement)
  await client.end()
}

export type App = {
  url: string
  databaseUrl: string
  pools: Pools
  operations: Operation[]
  /** An unrestricted key of a fresh account. */
  key: string
  accountId: string
  call(method: string, path: string, options?: CallOptions): Promise<Reply>
  makeAccount(): Promise<{ accountId: string; key: string }>
  makeKey(restrictions?: Partial<KeyRestrictions>, accountId?: string): Promise<{ id: string; key: string }>
}

export type CallOptions = {
  key?: string | null
  body?: unknown
  headers?: Record<string, string>
  raw?: string
}
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects and fails if it is not there
export type Reply = { status: number; headers: Headers; text: string; body: any }

export type AppOptions = {
  databaseUrl?: string
  extraOperations?: Operation[]
  now?: () => Date
  env?: Record<string, string>
  /** Stands in for the outside that upstream feedback is checked against. */
  hookClient?: ServiceNeeds['hookClient']
  /** Stands in for the addresses that callers name. */
  fetchClient?: ServiceNeeds['fetchClient']
  storage?: ServiceNeeds['storage']
  /** Starts the delivery engine too. */
  deliver?: true
  /** Starts the delivery of SMS too. */
  sms?: true
  /** Starts the calls of webhooks too. */
  webhooks?: true
  /** Instead of a silent one. */
  log?: Log
}

export async function makeApp(options: AppOptions = {}): Promise<App> {
  const { log = silentLog } = options
  const databaseUrl = options.databaseUrl ?? (await makeDatabase())
  const pools = openPools({ url: databaseUrl, log, strict: true })
  const config = readConfig({ DATABASE_URL: databaseUrl, POSTHORN_DNS: nobodyAnswers, ...options.env })
  const trackingKeys = await openTrackingKeys(pools.db)
  const now = options.now ?? (() => new Date())
  let wake = () => {}
  const service = await openService({
    config,
    pools,
    log,
    strict: true,
    baseUrl: 'http://test',
    afterAct: () => wake(),
    trackingKeys,
    ...options,
  })
  // As at a start: what works in the background begins when the service is put together.
  const background = await startBackground(options, { config, pools, log, now, trackingKeys })
  wake = background.wake
  const url = `http://127.0.0.1:${await service.http.listen('127.0.0.1', 0)}`
  after(async () => {
    await service.http.close()
    await background.stop()
    await pools.close()
  })
  const makers = makersFor(pools)
  const { accountId, key } = await makers.makeAccount()
  return {
    url,
    databaseUrl,
    pools,
    operations: service.operations,
    key,
    accountId,
    makeAccount: makers.makeAccount,
    makeKey: (restrictions, account = accountId) => makers.makeKey(account, restrictions),
    call: (method, path, given = {}) => call(url, method, path, { key, ...given }),
  }
}

type Parts = { config: Config; pools: Pools; log: Log; now: () => Date; trackingKeys: TrackingKeys }

async function startBackground(options: AppOptions, { config, pools, log, now, trackingKeys }: Parts) {
  const { db } = pools
  const delivery =
    options.deliver && (await openDelivery({ config, db, log, now, trackingKeys, baseUrl: 'http://test' }))
  const sms = options.sms && (await openSmsDelivery({ config, db, log, now }))
  const webhooks = options.webhooks && openWebhooks({ config, pools, log, now, baseUrl: 'http://test' })
  return {
    wake() {
      delivery?.wake()
      sms?.wake()
    },
    async stop() {
      await delivery?.stop()
      await sms?.stop()
      await webhooks?.stop()
    },
  }
}

function makersFor({ db }: Pools) {
  const makeKeyOf = (accountId: string, restrictions: Partial<KeyRestrictions> = {}) =>
    makeKey(db, accountId, { ...unrestricted, name: 'test key', ...restrictions })
  return {
    makeKey: makeKeyOf,
    async makeAccount() {
      const name = `account ${randomBytes(4).toString('hex')}`
      const { id } = await insertAccount(db, { name, outreach: false, monthlyQuota: null })
      return { accountId: id, key: (await makeKeyOf(id)).key }
    },
  }
}

export async function call(base: string, method: string, path: string, options: CallOptions): Promise<Reply> {
  const headers: Record<string, string> = { ...options.headers }
  if (options.key) headers['api-key'] ??= options.key
  const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
  if (body !== undefined) headers['content-type'] ??= 'application/json'
  const response = await fetch(base + path, { method, headers, body, redirect: 'manual' })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text ? JSON.parse(text) : text,
  }
}

// The SMTP relay on the domain: logins and messages pass the same gates as calls over HTTP.
import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { openRelay, type RelayMail } from '../faces/smtp/relay.ts'
import type { Relay as RelayFacts } from '../features/accounts/account/api.v3.ts'
import { ensureInstallation } from '../features/accounts/account/queries.ts'
import { refuseForeignSender } from '../features/accounts/usage/spend-sending.ts'
import { type Submitted, submitOverSmtp } from '../features/messages/relay/api.smtp.ts'
import { checkRecipient } from '../features/messages/relay/check-recipient.ts'
import { idempotencyHeaders, openMail, valueIn } from '../features/messages/relay/mail.ts'
import { admit } from '../gates/admit.ts'
import { type Gates, openGates } from '../gates/gates.ts'
import { perform } from '../gates/perform.ts'
import type { Caller } from '../kernel/ctx.ts'
import { domainOf } from '../kernel/email-address.ts'
import type { Log } from '../kernel/log.ts'
import type { Operation } from '../kernel/operation.ts'
import { unauthorized } from '../kernel/refusals.ts'
import { mostRoom } from '../kernel/room.ts'
import { baseUrlOf, type Config } from './config.ts'
import { watchTlsPair } from './renew-tls.ts'
import { listenFault } from './setting-faults.ts'
import { openTlsPair } from './tls-pair.ts'
import { readTransportUrl, takesMarketing } from './transport-url.ts'
import type { Pools } from './wire.ts'

export type RelayNeeds = {
  config: Config
  pools: Pools
  log: Log
  /** Under test: replies and refusals are held against their declarations. */
  strict: boolean
  now?: () => Date
  /** Told after each committed act. */
  afterAct?: () => void
}

export type RunningRelay = {
  host: string
  port: number
  securePort: number | undefined
  close(): Promise<void>
}

type Session = { apiKey: string; caller: Caller }

export async function startRelay(needs: RelayNeeds): Promise<RunningRelay> {
  const { config, log, now = () => new Date() } = needs
  const { host } = relayFacts(config)
  const op = submitOverSmtp(helloName(host))
  const gates = await gatesFor(needs, op, now)
  const tls = await openTlsPair({ ...config, host, now: now(), log })
  const relay = await openRelay<Session>({
    host: config.smtpHost ?? config.host,
    port: config.smtpPort,
    securePort: config.smtpsPort,
    tls,
    allowPlainAuth: false,
    name: helloName(host),
    ...limits,
    login: async ({ user, password, ip, requestId }) => {
      if (user === '')
        throw unauthorized({ message: 'The user name is empty; any other will do, with a key as password.' })
      const { caller } = await admit(gates, op, { apiKey: password, ip, requestId })
      return { apiKey: password, caller }
    },
    checkSender: async ({ caller }, address) => {
      if (address !== '') refuseForeignSender(caller, domainOf(address))
    },
    checkRecipient: ({ caller }, address) => checkRecipient(gates.db, caller, address, now()),
    ownerOf: ({ caller }) => caller.accountId,
    accept: (session, mail) => accept(gates, op, session, mail),
    log: (event) => log.info(event, 'relay'),
  }).catch(faultOf(config))
  if (config.tlsCert === undefined) return { host, ...relay }
  const watch = watchTlsPair({ files: config, inUse: tls, take: relay.renew, now, log })
  const close = () => {
    watch.stop()
    return relay.close()
  }
  return { host, ...relay, close }
}

function faultOf({ host, smtpHost, smtpPort, smtpsPort }: Config) {
  const ports = { POSTHORN_SMTP_PORT: smtpPort, POSTHORN_SMTPS_PORT: smtpsPort }
  return smtpHost === undefined
    ? listenFault(host, ports)
    : listenFault(smtpHost, ports, 'POSTHORN_SMTP_HOST')
}

const limits = {
  maxBytes: 30 * 1024 * 1024,
  maxRecipients: 100,
  maxConnections: 1_000,
  maxConnectionsPerIp: 200,
  room: mostRoom,
}

async function gatesFor(needs: RelayNeeds, op: Operation, now: () => Date): Promise<Gates> {
  const { config, pools, log, strict } = needs
  const { cursor_key } = await ensureInstallation(pools.db, randomBytes(32))
  return openGates([op], {
    db: pools.db,
    reads: pools.reads,
    quick: pools.quick,
    log,
    now,
    cursorKey: cursor_key,
    takesMarketing: takesMarketing(readTransportUrl(config.transport)),
    rateFactor: config.rateLimitFactor,
    afterAct: () => needs.afterAct?.(),
    strict,
  })
}

async function accept(
  gates: Gates,
  op: Operation,
  { apiKey }: Session,
  given: RelayMail,
): Promise<{ id: string }> {
  const { envelopeFrom, recipients, raw, requestId, ip } = given
  // Again for each message: the key may have been revoked or changed since the login.
  const admission = await admit(gates, op, { apiKey, ip, requestId })
  const mail = openMail(raw)
  const body = { envelope_from: envelopeFrom, recipients, mail }
  const key = valueIn(mail, ...idempotencyHeaders)
  const { body: text } = await perform(gates, admission, { params: {}, query: {}, body }, key)
  return { id: told(JSON.parse(text)) }
}

const mostTold = 8

function told({ messages }: Submitted): string {
  const more = messages.length > mostTold ? [`and ${messages.length - mostTold} more`] : []
  return [...messages.slice(0, mostTold).map(({ id }) => id), ...more].join(' ')
}

/** Where clients find the relay; the port is the one set, which is not yet known when that is 0. */
export function relayFacts(config: Config): RelayFacts {
  const address = config.smtpHost ?? config.host
  const isAny = address === '0.0.0.0' || address === '::'
  const host = isAny ? new URL(baseUrlOf({ ...config, host: address }, config.port)).hostname : address
  return { enabled: true, host, port: config.smtpPort }
}

export function relayAddress({ host, port }: RelayFacts): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
}

/** An address stands in brackets where SMTP expects a name (RFC 5321 §4.1.3). */
function helloName(host: string): string {
  if (isIP(host) === 0) return host
  return isIP(host) === 6 ? `[IPv6:${host}]` : `[${host}]`
}

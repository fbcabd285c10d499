// The only reader of the environment. Every variable stands once: name, meaning, default, how it is read.
import { isIP } from 'node:net'
import { nearest } from '../kernel/nearest.ts'
import { missingFor, readTransportUrl } from './transport-url.ts'

type Read<T> = (value: string) => T | Fault
type Setting<T> = { env: string; doc: string; default?: string; read: Read<T> }

/** What is wrong with a value, to follow its variable's name: "must be …". */
class Fault {
  readonly says: string

  constructor(says: string) {
    this.says = says
  }
}

const text: Read<string> = (value) => value

const host: Read<string> = (value) =>
  /^[\w.:%-]+$/.test(value) ? value : new Fault('must be a name or address such as 127.0.0.1 or 0.0.0.0')

const resolvers: Read<string> = (value) =>
  value.split(',').every((one) => isResolver(one.trim()))
    ? value
    : new Fault('must be IP addresses such as 9.9.9.9 or 127.0.0.1:5353, with commas between')

function isResolver(given: string): boolean {
  const [, inBrackets, bare, port = '53'] = /^(?:\[(.+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(given) ?? []
  return isIP(inBrackets ?? bare ?? given) !== 0 && Number(port) <= 65_535
}

const port: Read<number> = (value) =>
  /^\d{1,5}$/.test(value) && Number(value) <= 65_535 ? Number(value) : new Fault('must be a port, 0 to 65535')

const wholeNumber: Read<number> = (value) =>
  /^\d{1,6}$/.test(value) ? Number(value) : new Fault('must be a whole number')

const leaseLength: Read<number> = (value) =>
  /^\d{1,4}$/.test(value) && Number(value) >= 5 ? Number(value) : new Fault('must be 5 to 9999 seconds')

const factor: Read<number> = (value) =>
  /^\d+(\.\d+)?$/.test(value) && Number(value) > 0 && Number(value) <= 1e6
    ? Number(value)
    : new Fault('must be a number above 0, such as 1 or 0.5')

const oneOf =
  <const W extends readonly string[]>(...words: W): Read<W[number]> =>
  (value) =>
    words.includes(value) ? value : new Fault(`must be one of ${words.join(', ')}`)

const yesOrNo: Read<boolean> = (value) =>
  /^(true|false)$/.test(value) ? value === 'true' : new Fault('must be true or false')

const smtpOrOther =
  (accepts: (kind: string) => boolean): Read<string> =>
  (value) => {
    try {
      const { kind } = readTransportUrl(value)
      return accepts(kind) ? value : new Fault('must be smtp://user:password@host:port or smtps://…')
    } catch (error) {
      return new Fault(error instanceof Error ? error.message : String(error))
    }
  }
const transport = smtpOrOther(() => true)
const smtpUrl = smtpOrOther((kind) => kind === 'smtp')

/** One key behind the other, the newest first. */
const secretKeys: Read<Buffer> = (value) => {
  const keys = value
    .split(/\s*,\s*/)
    .map((one) => Buffer.from(one, /^[0-9a-f]{64}$/i.test(one) ? 'hex' : 'base64'))
  return keys.every((key) => key.length === 32)
    ? Buffer.concat(keys)
    : new Fault(
        'must be 32 random octets in base64 or hexadecimal; several with commas between, newest first',
      )
}

const list: Read<string[]> = (value) =>
  value
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

const hostNames: Read<string[]> = (value) => {
  const names = list(value) as string[]
  return names.every((name) => /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/i.test(name))
    ? names
    : new Fault('must be names such as _spf.example.com, with commas between')
}

const addresses: Read<string[]> = (value) => {
  const given = list(value) as string[]
  return given.every(isAddressOrRange)
    ? given
    : new Fault('must be IP addresses or ranges such as 192.0.2.1 or 192.0.2.0/28, with commas between')
}

function isAddressOrRange(given: string): boolean {
  const [, address = '', bits = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(given) ?? []
  const version = isIP(address)
  return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128)
}

const httpUrl: Read<string> = (value) =>
  URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
    ? value.replace(/\/+$/, '')
    : new Fault('must be an address such as https://mail.example.com')

const postgresUrl: Read<string> = (value) =>
  URL.canParse(value) && /^postgres(ql)?:$/.test(new URL(value).protocol)
    ? value
    : new Fault('must be an address such as postgres://user:password@host:5432/database')

const apiKey: Read<string> = (value) =>
  /^[\x21-\x7e]{24,255}$/.test(value)
    ? value
    : new Fault('must have 24 to 255 printable characters without spaces')

const setting = <T>(env: string, doc: string, read: Read<T>, fallback?: string): Setting<T> => ({
  env,
  doc,
  read,
  default: fallback,
})

export const settings = {
  host: setting('POSTHORN_HOST', 'address to listen on', host, '127.0.0.1'),
  port: setting('POSTHORN_PORT', 'port of the HTTP interface', port, '8025'),
  smtpHost: setting(
    'POSTHORN_SMTP_HOST',
    'address the SMTP relay listens on; POSTHORN_HOST when absent',
    host,
  ),
  smtpPort: setting('POSTHORN_SMTP_PORT', 'port of the SMTP relay, with STARTTLS', port, '2525'),
  smtpsPort: setting(
    'POSTHORN_SMTPS_PORT',
    'port of the SMTP relay with TLS from the start; off when absent',
    port,
  ),
  tlsCert: setting('POSTHORN_TLS_CERT', 'PEM file of the relay’s certificate; self-signed when absent', text),
  tlsKey: setting('POSTHORN_TLS_KEY', 'PEM file of the certificate’s key', text),
  baseUrl: setting('POSTHORN_BASE_URL', 'public address; http://{host}:{port} when absent', httpUrl),
  dataDir: setting('POSTHORN_DATA_DIR', 'folder of the embedded database and of secrets', text, './data'),
  databaseUrl: setting(
    'DATABASE_URL',
    'PostgreSQL 15 or newer; the embedded one is used when absent',
    postgresUrl,
  ),
  apiKey: setting('POSTHORN_API_KEY', 'the first key, 24 characters or more; made when absent', apiKey),
  transport: setting('POSTHORN_TRANSPORT', 'where messages go', transport, 'capture'),
  awsAccessKeyId: setting('AWS_ACCESS_KEY_ID', 'of the key for ses://', text),
  awsSecretAccessKey: setting('AWS_SECRET_ACCESS_KEY', 'of the key for ses://', text),
  awsSessionToken: setting('AWS_SESSION_TOKEN', 'of the key for ses://, when it is a temporary one', text),
  awsEndpoint: setting('POSTHORN_AWS_ENDPOINT', 'address of an emulator instead of Amazon’s', httpUrl),
  scalewayKey: setting('SCW_SECRET_KEY', 'secret key for scaleway://', text),
  scalewayDefaultProject: setting('SCW_DEFAULT_PROJECT_ID', 'project for scaleway://', text),
  scalewayProject: setting('SCW_PROJECT_ID', 'project for scaleway://, when the one above is absent', text),
  scalewayEndpoint: setting(
    'POSTHORN_SCALEWAY_ENDPOINT',
    'address of an emulator instead of theirs',
    httpUrl,
  ),
  scalewaySmtp: setting('POSTHORN_SCALEWAY_SMTP', 'relay for what their interface cannot carry', smtpUrl),
  snsTopics: setting(
    'POSTHORN_SNS_TOPICS',
    'topics (ARN) whose feedback is taken, with commas between',
    list,
  ),
  spfInclude: setting(
    'POSTHORN_SPF_INCLUDE',
    'names whose SPF lists the hosts that send, with commas between; for domains to include',
    hostNames,
  ),
  sendingIps: setting(
    'POSTHORN_SENDING_IPS',
    'addresses that send, with commas between; for the SPF records of domains',
    addresses,
  ),
  secretKey: setting(
    'POSTHORN_SECRET_KEY',
    // The file in the data folder takes one key a line, in the same order.
    'seals secrets, signs links: 32 octets, older ones after commas; a file when absent',
    secretKeys,
  ),
  rateLimitFactor: setting(
    'POSTHORN_RATE_LIMIT_FACTOR',
    'multiplies every rate limit, for load tests',
    factor,
    '1',
  ),
  retryFactor: setting('POSTHORN_RETRY_FACTOR', 'multiplies every retry delay, for tests', factor, '1'),
  leaseSeconds: setting(
    'POSTHORN_LEASE_SECONDS',
    'after how long a crashed worker’s messages are another’s',
    leaseLength,
    '180',
  ),
  dns: setting(
    'POSTHORN_DNS',
    'resolvers, host:port with commas between; the system’s when absent',
    resolvers,
  ),
  webhookAllowPrivate: setting(
    'POSTHORN_WEBHOOK_ALLOW_PRIVATE',
    'webhooks may call private and loopback addresses',
    yesOrNo,
    'false',
  ),
  metricsToken: setting('POSTHORN_METRICS_TOKEN', 'bearer token that opens /metrics to other machines', text),
  trustedProxies: setting(
    'POSTHORN_TRUSTED_PROXIES',
    'how many proxies stand in front, for the caller’s address',
    wholeNumber,
    '0',
  ),
  logLevel: setting(
    'POSTHORN_LOG_LEVEL',
    'how much is logged',
    oneOf('debug', 'info', 'warn', 'error', 'silent'),
    'info',
  ),
}

type Settings = typeof settings
type Value<S> = S extends Setting<infer T> ? T : never
type Required =
  | 'host'
  | 'port'
  | 'smtpPort'
  | 'dataDir'
  | 'transport'
  | 'rateLimitFactor'
  | 'retryFactor'
  | 'leaseSeconds'
  | 'webhookAllowPrivate'
  | 'trustedProxies'
  | 'logLevel'
export type Config = {
  [K in keyof Settings]: K extends Required ? Value<Settings[K]> : Value<Settings[K]> | undefined
}

/** One line per wrong setting. */
export class ConfigFault extends Error {}

export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const faults: string[] = []
  const entries = Object.entries(settings).map(([name, one]) => {
    const given = env[one.env]?.trim() || one.default
    const value = given === undefined ? undefined : one.read(given)
    if (value instanceof Fault) faults.push(`${one.env} ${value.says}${shown(one.env, given)}`)
    return [name, value]
  })
  const config = Object.fromEntries(entries)
  if (faults.length === 0) faults.push(...missingFor(readTransportUrl(config.transport), config))
  if (faults.length > 0) throw new ConfigFault(faults.join('\n'))
  return config
}

// These hold secrets, which have no place on a terminal or in a log.
const hidden = new Set([
  'POSTHORN_API_KEY',
  'DATABASE_URL',
  'POSTHORN_METRICS_TOKEN',
  'POSTHORN_TRANSPORT',
  'POSTHORN_SCALEWAY_SMTP',
  'POSTHORN_SECRET_KEY',
])

function shown(env: string, given: string | undefined): string {
  return hidden.has(env) ? '' : `, not ${JSON.stringify(given)}`
}

/** Names that look like ours but are not: typing errors, mostly. Not refused, other versions may know them. */
export function unknownVariables(env: NodeJS.ProcessEnv = process.env): string[] {
  const known = Object.values(settings).map((one) => one.env)
  return Object.keys(env)
    .filter((name) => name.startsWith('POSTHORN_') && !known.includes(name))
    .map((name) => {
      const meant = nearest(name, known)
      return meant ? `${name} is unknown; did you mean ${meant}?` : `${name} is unknown to this version`
    })
}

export function baseUrlOf({ baseUrl, host }: Config, actualPort: number): string {
  const named = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return baseUrl ?? `http://${named.includes(':') ? `[${named}]` : named}:${actualPort}`
}

export function settingsHelp(): string {
  const rows = Object.values(settings).map((one) => {
    const fallback = one.default === undefined ? '' : ` (${one.default})`
    return `  ${one.env.padEnd(27)} ${one.doc}${fallback}`
  })
  return ['Settings, read from the environment (default):', ...rows].join('\n')
}

/** The SDK of Amazon prints a line about the version of Node that is of no use to an operator. */
export function quietAwsSdk(env: NodeJS.ProcessEnv = process.env): void {
  env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
}

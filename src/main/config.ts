// The only reader of the environment. Every variable stands once: name, meaning, default, how it is read.
import { nearest } from '../kernel/nearest.ts'
import {
  addresses,
  apiKey,
  Fault,
  factor,
  folder,
  host,
  hostNames,
  httpUrl,
  leaseLength,
  linkBase,
  mediaStorage,
  oneOf,
  port,
  postgresUrl,
  type Read,
  resolvers,
  secretKeys,
  smtpUrl,
  text,
  topicArns,
  transport,
  wholeNumber,
  yesOrNo,
} from './read-value.ts'
import { hookToken, missingForSms, readSmsUrl, smsTransport, stopMention } from './sms-settings.ts'
import { missingFor, readTransportUrl } from './transport-url.ts'

type Setting<T> = { env: string; doc: string; default?: string; read: Read<T> }

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
  baseUrl: setting('POSTHORN_BASE_URL', 'public address; http://{host}:{port} when absent', linkBase),
  dataDir: setting(
    'POSTHORN_DATA_DIR',
    'folder of the embedded database, of images and of secrets',
    folder,
    './data',
  ),
  databaseUrl: setting(
    'DATABASE_URL',
    'PostgreSQL 15 or newer; the embedded one is used when absent',
    postgresUrl,
  ),
  apiKey: setting('POSTHORN_API_KEY', 'the first key, 24 characters or more; made when absent', apiKey),
  transport: setting('POSTHORN_TRANSPORT', 'where messages go', transport, 'capture'),
  mediaStorage: setting(
    'POSTHORN_MEDIA_STORAGE',
    'where images are kept: disk (in the data folder) or s3://BUCKET/PREFIX',
    mediaStorage,
    'disk',
  ),
  s3Region: setting('POSTHORN_S3_REGION', 'region of s3://', text, 'us-east-1'),
  s3Endpoint: setting(
    'POSTHORN_S3_ENDPOINT',
    'address of the server for s3:// that is not Amazon’s',
    httpUrl,
  ),
  awsAccessKeyId: setting('AWS_ACCESS_KEY_ID', 'of the key for ses://, sns:// and s3://', text),
  awsSecretAccessKey: setting('AWS_SECRET_ACCESS_KEY', 'of the key for ses://, sns:// and s3://', text),
  awsSessionToken: setting('AWS_SESSION_TOKEN', 'of that key, when it is a temporary one', text),
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
  smsTransport: setting('POSTHORN_SMS_TRANSPORT', 'where SMS go', smsTransport, 'capture'),
  smsStop: setting(
    'POSTHORN_SMS_STOP',
    'what marketing SMS end with; its number must be one of yours',
    stopMention,
    'STOP 36111',
  ),
  ovhEndpoint: setting('OVH_ENDPOINT', 'ovh-eu, ovh-ca or an address, for ovh://', text, 'ovh-eu'),
  ovhApplicationKey: setting('OVH_APPLICATION_KEY', 'of the application for ovh://', text),
  ovhApplicationSecret: setting('OVH_APPLICATION_SECRET', 'of the application for ovh://', text),
  ovhConsumerKey: setting('OVH_CONSUMER_KEY', 'the right of that application for ovh://', text),
  ovhHookToken: setting(
    'POSTHORN_OVH_HOOK_TOKEN',
    'secret end of /hooks/ovh-sms/…, which OVH calls; not served when absent',
    hookToken,
  ),
  snsTopics: setting(
    'POSTHORN_SNS_TOPICS',
    'topics (ARN) whose feedback is taken, with commas between',
    topicArns,
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
  auditDays: setting(
    'POSTHORN_AUDIT_DAYS',
    'how many days the action log is kept; 0: for ever',
    wholeNumber,
    '365',
  ),
  contentDays: setting(
    'POSTHORN_CONTENT_DAYS',
    'how many days contents of messages are kept once they are done with; 0: for ever',
    wholeNumber,
    '0',
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
  outreachAllowPrivate: setting(
    'POSTHORN_OUTREACH_ALLOW_PRIVATE',
    'mailboxes may be on servers at private and loopback addresses',
    yesOrNo,
    'true',
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
  | 'mediaStorage'
  | 's3Region'
  | 'smsTransport'
  | 'smsStop'
  | 'ovhEndpoint'
  | 'rateLimitFactor'
  | 'retryFactor'
  | 'leaseSeconds'
  | 'auditDays'
  | 'contentDays'
  | 'webhookAllowPrivate'
  | 'outreachAllowPrivate'
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
  if (faults.length === 0) {
    faults.push(...missingFor(readTransportUrl(config.transport), config))
    faults.push(...missingForSms(readSmsUrl(config.smsTransport), config))
  }
  if (faults.length > 0) throw new ConfigFault(faults.join('\n'))
  return config
}

/** Of what this process listens on, one would find its port taken by the other. */
export function refuseSamePorts(config: Config, listens: { http: boolean; smtp: boolean }): void {
  const { host, port, smtpHost = host, smtpPort, smtpsPort } = config
  const all: [string, string, number | undefined][] = [
    ['POSTHORN_PORT', host, port],
    ['POSTHORN_SMTP_PORT', smtpHost, smtpPort],
    ['POSTHORN_SMTPS_PORT', smtpHost, smtpsPort],
  ]
  const taken = all.filter((_, i) => (i === 0 ? listens.http : listens.smtp))
  const faults = taken.flatMap(([name, address, one], i) => {
    const before = taken.slice(0, i).find(([, other, same]) => one && same === one && other === address)
    return before ? [`${name} must differ from ${before[0]}, not ${JSON.stringify(String(one))}`] : []
  })
  if (faults.length > 0) throw new ConfigFault(faults.join('\n'))
}

// These hold secrets, which have no place on a terminal or in a log.
const hidden = new Set([
  'POSTHORN_API_KEY',
  'DATABASE_URL',
  'POSTHORN_METRICS_TOKEN',
  'POSTHORN_TRANSPORT',
  'POSTHORN_SCALEWAY_SMTP',
  'POSTHORN_SECRET_KEY',
  'POSTHORN_OVH_HOOK_TOKEN',
])

function shown(env: string, given: string | undefined): string {
  const mayHoldSecret = hidden.has(env) || /:\/\/[^/]*@/.test(given ?? '')
  return mayHoldSecret ? '' : `, not ${JSON.stringify(given)}`
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
  const width = Math.max(...Object.values(settings).map(({ env }) => env.length))
  const rows = Object.values(settings).map((one) => {
    const fallback = one.default === undefined ? '' : ` (${one.default})`
    return `  ${one.env.padEnd(width)} ${one.doc}${fallback}`
  })
  return ['Settings, read from the environment (default):', ...rows].join('\n')
}

/** The SDK of Amazon prints a line about the version of Node that is of no use to an operator. */
export function quietAwsSdk(env: NodeJS.ProcessEnv = process.env): void {
  env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
}

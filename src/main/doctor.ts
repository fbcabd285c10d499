// Looks at what the service would need, without starting it.

import { Resolver } from 'node:dns/promises'
import type pg from 'pg'
import { hasDatabase } from '../adapters/embedded-postgres/embedded-postgres.ts'
import { isDiskFull } from '../kernel/disk-full.ts'
import { codeOf, isUnwritable } from '../kernel/outage.ts'
import type { Transport } from '../kernel/ports.ts'
import { keyId } from '../kernel/seal.ts'
import { within } from '../kernel/within.ts'
import { secretKeysAtHand } from './backup/data-files.ts'
import { BackupFault } from './backup/format.ts'
import { checkCertificate } from './check-certificate.ts'
import { readClockOf } from './clock-queries.ts'
import { clocksApart, howToSetClocks } from './clocks.ts'
import { type Config, ConfigFault, readConfig, unknownVariables } from './config.ts'
import { connectAlone } from './connect-alone.ts'
import { ensureDataFolder } from './data-folder.ts'
import { openDatabase } from './database.ts'
import { openMediaStorage } from './media.ts'
import {
  howToMigrate,
  type Migration,
  MigrationFault,
  missingIn,
  ofOlderVersion,
  refuseUnfit,
} from './migrate.ts'
import { howToBringBack, printOf, unopenedInWords } from './secret-key.ts'
import { findUnopened, listPrints } from './secret-print-queries.ts'
import { readServer } from './server-queries.ts'
import { adviceOn, resolverAddresses } from './setting-faults.ts'
import { openSmsUpstream } from './sms.ts'
import { readTransportUrl } from './transport-url.ts'
import { openTransport } from './transports.ts'

export type Check = { name: string; state: 'ok' | 'warning' | 'failed'; detail: string; mend?: string }

export async function runChecks(): Promise<Check[]> {
  const node = checkNode()
  let config: Config
  try {
    config = readConfig()
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error
    const faults = error.message.split('\n')
    return [node, ...faults.map((detail): Check => ({ name: 'configuration', state: 'failed', detail }))]
  }
  const folder = await checkDataFolder(config)
  // What is kept in a folder that cannot be used needs no look.
  const isUsable = folder.state === 'ok'
  const hasMedia = isUsable || config.mediaStorage.kind !== 'disk'
  const isAtHand = isUsable || config.databaseUrl !== undefined
  return [
    node,
    ...checkConfiguration(config),
    ...(await checkCertificate(config, new Date())),
    folder,
    ...(isAtHand ? await checkDatabase(config) : []),
    await checkTransport(config),
    ...(hasMedia ? [await checkMedia(config)] : []),
    await checkSmsTransport(config),
    await checkDns(config),
  ]
}

function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isNew = major > 20 || (major === 20 && minor >= 19)
  const detail = `Node ${process.versions.node}`
  if (isNew) return { name: 'node', state: 'ok', detail }
  return { name: 'node', state: 'failed', detail, mend: 'install Node 20.19 or newer' }
}

function checkConfiguration(config: Config): Check[] {
  const unknown = unknownVariables().map(
    (detail): Check => ({ name: 'configuration', state: 'warning', detail }),
  )
  if (unknown.length > 0) return unknown
  const detail = `listening on ${config.host}:${config.port}`
  return [{ name: 'configuration', state: 'ok', detail }]
}

async function checkDataFolder({ dataDir }: Config): Promise<Check> {
  const name = 'data folder'
  try {
    await ensureDataFolder(dataDir)
    return { name, state: 'ok', detail: dataDir }
  } catch (error) {
    const mend = 'give this user write access to it, or set POSTHORN_DATA_DIR to another folder'
    return { name, state: 'failed', detail: oneLine(error), mend }
  }
}

async function checkDatabase(config: Config): Promise<Check[]> {
  const name = 'database'
  // None is made by looking: the folder may be the wrong one.
  if (config.databaseUrl === undefined && !hasDatabase(config.dataDir)) {
    const mend = 'start it once, or set POSTHORN_DATA_DIR to the folder that it uses'
    return [{ name, state: 'warning', detail: `there is no Posthorn in ${config.dataDir} yet`, mend }]
  }
  try {
    const database = await openDatabase(config, 'command')
    try {
      const keys = await secretKeysAtHand(config)
      const { version, missing, apart, connections, ...secrets } = await lookAt(database.url, keys)
      const found = checkTables(missing, `${database.kind}, PostgreSQL ${version}`)
      return [
        found,
        ...checkConnections(connections),
        checkClock(apart),
        checkSecretKey(config, keys, secrets),
      ]
    } finally {
      await database.close()
    }
  } catch (error) {
    if (isUnwritable(error)) return [{ name, state: 'failed', ...fullDatabase(error) }]
    if (codeOf(error) === '53300')
      return [{ name, state: 'failed', detail: oneLine(error), mend: howToConnect }]
    const mend = config.databaseUrl
      ? (adviceOn(error) ?? 'check DATABASE_URL and that the server takes connections from here')
      : 'mend what the line above says, or set DATABASE_URL to use another server'
    // It has been reached, and its line says what to do.
    const isReached = error instanceof MigrationFault || error instanceof BackupFault
    return [{ name, state: 'failed', detail: oneLine(error), ...(!isReached && { mend }) }]
  }
}

const mostConnections = 19
const howToConnect =
  'raise max_connections of the server, or the limit of the role or database: ' +
  `each process of Posthorn takes up to ${mostConnections}`

function checkConnections(allowed: number): Check[] {
  if (allowed >= mostConnections) return []
  const detail = `${allowed} at most, by the limits of the server, the database or the role`
  return [{ name: 'connections', state: 'warning', detail, mend: howToConnect }]
}

function checkTables(missing: Migration[] | undefined, server: string): Check {
  const name = 'database'
  if (!missing) return { name, state: 'ok', detail: `${server}, empty: the first start makes its tables` }
  if (missing.length === 0) return { name, state: 'ok', detail: server }
  return { name, state: 'warning', detail: `${server}, ${ofOlderVersion(missing)}`, mend: howToMigrate }
}

type Secrets = { prints: string[]; lost: string | undefined }
type Look = Secrets & {
  version: string
  missing: Migration[] | undefined
  apart: string | undefined
  connections: number
}

async function lookAt(url: string, keys: Buffer[]): Promise<Look> {
  const client = await connectAlone(url)
  try {
    await refuseUnfit(client, url)
    await tryToWrite(client)
    const server = await readServer(client)
    const missing = await missingIn(client)
    // An older version may not have all the tables.
    const hasTables = missing?.length === 0
    const lost = hasTables ? unopenedInWords(await findUnopened(client, keys.map(keyId))) : undefined
    const apart = await clocksApart(() => readClockOf(client))
    return { ...server, prints: await listPrints(client), missing, lost, apart }
  } finally {
    await client.end()
  }
}

/** A full disk shows itself only where a file has to grow. It is taken back. */
async function tryToWrite(client: pg.Client): Promise<void> {
  try {
    await client.query(`begin; create table posthorn_doctor (filling text)`)
    // all accounts: a megabyte of nobody's
    await client.query(`insert into posthorn_doctor select repeat('x', 1000) from generate_series(1, 1000)`)
  } finally {
    await client.query('rollback')
  }
}

const fullDatabase = (error: unknown): Pick<Check, 'detail' | 'mend'> => ({
  detail: `the database takes no writes: ${oneLine(error)}`,
  mend: 'make room on the disk of the database server; the service then goes on by itself',
})

function checkClock(apart: string | undefined): Check {
  const name = 'clock'
  if (apart) return { name, state: 'warning', detail: apart, mend: howToSetClocks }
  return { name, state: 'ok', detail: 'it agrees with that of the database server' }
}

function checkSecretKey(config: Config, keys: Buffer[], { prints, lost }: Secrets): Check {
  const name = 'secret key'
  if (prints.length > 0 && !keys.some((key) => prints.includes(printOf(key)))) {
    const detail = 'the database knows another one: nothing it sealed can be opened'
    const mend = config.secretKey
      ? 'set POSTHORN_SECRET_KEY to the key of before; a new one goes in front of it, a comma between'
      : `put secret-key back into ${config.dataDir}, or set POSTHORN_SECRET_KEY to the key of before`
    return { name, state: 'failed', detail, mend }
  }
  if (lost) return { name, state: 'failed', detail: lost, mend: howToBringBack }
  return { name, state: 'ok', detail: prints.length === 0 ? 'not used yet' : 'the database knows it' }
}

async function checkTransport(config: Config): Promise<Check> {
  const name = 'transport'
  const { kind } = readTransportUrl(config.transport)
  if (kind === 'capture') return { name, state: 'warning', detail: `${kind}: no message leaves this machine` }
  const transport = await openTransport(config, nothing)
  try {
    await within(30_000, transport.verify(), () => new Error('there was no answer in time'))
    return { name, state: 'ok', detail: `${kind}: the upstream is ready` }
  } catch (error) {
    const mend = 'check POSTHORN_TRANSPORT, the credentials and that the upstream can be reached from here'
    return { name, state: 'failed', detail: `${kind}: ${oneLine(error)}`, mend }
  } finally {
    await transport.close()
  }
}

async function checkMedia(config: Config): Promise<Check> {
  const name = 'media storage'
  const storage = openMediaStorage(config)
  try {
    await within(30_000, storage.verify(), () => new Error('there was no answer in time'))
    return { name, state: 'ok', detail: `${storage.kind}: it can be written to` }
  } catch (error) {
    const mend = isDiskFull(error)
      ? `make room on the disk that ${config.dataDir} is on`
      : 'check POSTHORN_MEDIA_STORAGE, and that this user or key may write there'
    return { name, state: 'failed', detail: `${storage.kind}: ${oneLine(error)}`, mend }
  }
}

async function checkSmsTransport(config: Config): Promise<Check> {
  const name = 'SMS transport'
  const transport = await openSmsUpstream(config, () => new Date())
  if (!transport) return { name, state: 'warning', detail: 'capture: no SMS leaves this machine' }
  const { kind } = transport
  try {
    await within(30_000, transport.verify(), () => new Error('there was no answer in time'))
    return { name, state: 'ok', detail: `${kind}: the upstream is ready` }
  } catch (error) {
    const mend =
      'check POSTHORN_SMS_TRANSPORT, the credentials and that the upstream can be reached from here'
    return { name, state: 'failed', detail: `${kind}: ${oneLine(error)}`, mend }
  } finally {
    await transport.close()
  }
}

/** Stands where `capture` would: there is no database to capture into here. */
const nothing: Transport = {
  kind: 'capture',
  signs: false,
  takesMarketing: true,
  concurrency: 0,
  send: async () => ({ kind: 'accepted', upstreamId: null, response: '' }),
  verify: async () => {},
  close: async () => {},
}

/** Any answer will do, also "no such name": it shows that a resolver is there. */
async function checkDns({ dns }: Config): Promise<Check> {
  const name = 'dns'
  const resolver = new Resolver({ timeout: 2_000, tries: 1 })
  try {
    const servers = await resolverAddresses(dns)
    if (servers) resolver.setServers(servers)
    await resolver.resolveNs('.').catch((error) => {
      if (!['ENOTFOUND', 'ENODATA'].includes(error.code)) throw error
    })
    return { name, state: 'ok', detail: `answers from ${resolver.getServers().join(', ')}` }
  } catch (error) {
    const detail = `${resolver.getServers().join(', ')}: ${oneLine(error)}`
    const mend = 'set POSTHORN_DNS to a resolver that answers; without one, domains cannot be verified'
    return { name, state: 'warning', detail, mend }
  }
}

function oneLine(error: unknown): string {
  const found = error instanceof AggregateError ? error.errors[0] : error
  return (found instanceof Error ? found.message : String(found)).replaceAll(/\s*\n\s*/g, ' ')
}

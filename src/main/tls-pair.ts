// The certificate of the relay: the operator's, or a self-signed one made once in the data folder.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { giveToFolderOwner } from '../adapters/embedded-postgres/password.ts'
import type { Log } from '../kernel/log.ts'
import { type Config, ConfigFault } from './config.ts'

export type TlsPair = { cert: string; key: string }

export type TlsPairNeeds = Pick<Config, 'tlsCert' | 'tlsKey' | 'dataDir'> & {
  host: string
  now: Date
  log: Pick<Log, 'warn'>
}

const names = { cert: 'POSTHORN_TLS_CERT', key: 'POSTHORN_TLS_KEY' }

export async function openTlsPair(needs: TlsPairNeeds): Promise<TlsPair> {
  const { tlsCert, tlsKey } = needs
  return tlsCert === undefined && tlsKey === undefined ? ownPair(needs) : readPair({ tlsCert, tlsKey })
}

/** The operator's. */
export async function readPair({ tlsCert, tlsKey }: Pick<Config, 'tlsCert' | 'tlsKey'>): Promise<TlsPair> {
  if (tlsCert === undefined) throw new ConfigFault(`${names.cert} is missing; ${names.key} is set`)
  if (tlsKey === undefined) throw new ConfigFault(`${names.key} is missing; ${names.cert} is set`)
  const pair = { cert: await readGiven(names.cert, tlsCert), key: await readGiven(names.key, tlsKey) }
  if (!isPair(pair))
    throw new ConfigFault(`${names.cert} and ${names.key} must be a PEM certificate and its key`)
  return pair
}

async function readGiven(name: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : error
    throw new ConfigFault(`${name} must be a file that can be read, not ${JSON.stringify(path)} (${reason})`)
  }
}

function isPair({ cert, key }: TlsPair): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}

export const endOf = ({ cert }: TlsPair) => new Date(new X509Certificate(cert).validTo)

const hasRunOut = (pair: TlsPair, now: Date) => endOf(pair) <= now

async function ownPair({ dataDir, host: given, now, log }: TlsPairNeeds): Promise<TlsPair> {
  const [certFile, keyFile] = [join(dataDir, 'tls-cert.pem'), join(dataDir, 'tls-key.pem')]
  const host = given.replace(/^\[(.*)\]$/, '$1')
  const [cert, key] = await Promise.all(
    [certFile, keyFile].map((file) => readFile(file, 'utf8').catch(() => '')),
  )
  const kept = { cert: cert ?? '', key: key ?? '' }
  // Halves of two pairs stand there when two processes made theirs at the same time.
  if (isPair(kept) && !hasRunOut(kept, now)) {
    if (isFor(kept, host)) return kept
    log.warn(
      { file: certFile, host },
      'the relay has another name: its certificate is made anew, replace copies of it',
    )
  }
  const made = await makePair(host, now)
  await mkdir(dataDir, { recursive: true })
  await Promise.all([keepFile(certFile, made.cert, 0o644), keepFile(keyFile, made.key, 0o600)])
  return made
}

/** Whoever asks for another name does not trust it. What no check takes for a name is not made anew at every start. */
function isFor({ cert }: TlsPair, host: string): boolean {
  const certificate = new X509Certificate(cert)
  const found = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)
  return found !== undefined || certificate.subject === `CN=${host}`
}

async function keepFile(path: string, text: string, mode: number): Promise<void> {
  const draft = `${path}.${process.pid}`
  await writeFile(draft, text, { mode })
  await giveToFolderOwner(draft)
  await rename(draft, path)
}

const years = 10

async function makePair(host: string, now: Date): Promise<TlsPair> {
  // Needed once in ten years, and large.
  const { generate } = await import('selfsigned')
  const notAfterDate = new Date(now)
  notAfterDate.setUTCFullYear(now.getUTCFullYear() + years)
  const altNames = isIP(host)
    ? [
        { type: 7 as const, ip: host },
        { type: 2 as const, value: 'localhost' },
      ]
    : [{ type: 2 as const, value: host }]
  const made = await generate([{ name: 'commonName', value: host }], {
    keySize: 2048,
    algorithm: 'sha256',
    notBeforeDate: now,
    notAfterDate,
    extensions: [{ name: 'subjectAltName', altNames }],
  })
  return { cert: made.cert, key: made.private }
}

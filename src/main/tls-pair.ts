// The certificate of the relay: the operator's, or a self-signed one made once in the data folder.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { giveToFolderOwner } from '../adapters/embedded-postgres/password.ts'
import { type Config, ConfigFault } from './config.ts'

export type TlsPair = { cert: string; key: string }

export type TlsPairNeeds = Pick<Config, 'tlsCert' | 'tlsKey' | 'dataDir'> & { host: string; now: Date }

const names = { cert: 'POSTHORN_TLS_CERT', key: 'POSTHORN_TLS_KEY' }

export async function openTlsPair({ tlsCert, tlsKey, dataDir, host, now }: TlsPairNeeds): Promise<TlsPair> {
  if (tlsCert === undefined && tlsKey === undefined) return ownPair(dataDir, host, now)
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

async function ownPair(dataDir: string, host: string, now: Date): Promise<TlsPair> {
  const [certFile, keyFile] = [join(dataDir, 'tls-cert.pem'), join(dataDir, 'tls-key.pem')]
  const [cert, key] = await Promise.all(
    [certFile, keyFile].map((file) => readFile(file, 'utf8').catch(() => '')),
  )
  const kept = { cert: cert ?? '', key: key ?? '' }
  // Halves of two pairs stand there when two processes made theirs at the same time.
  if (isPair(kept) && new Date(new X509Certificate(kept.cert).validTo) > now) return kept
  const made = await makePair(host, now)
  await mkdir(dataDir, { recursive: true })
  await Promise.all([keepFile(certFile, made.cert, 0o644), keepFile(keyFile, made.key, 0o600)])
  return made
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

// The keys that secrets in the database are sealed and links are signed with: the operator's, or one made once in the
// data folder. The newest comes first and is the one to write with; what older ones wrote stays readable.
import { createHash, randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { giveToFolderOwner } from '../adapters/embedded-postgres/password.ts'
import type { Db } from '../kernel/db.ts'
import { keyId } from '../kernel/seal.ts'
import { type Config, ConfigFault } from './config.ts'
import { countUnopened, knowsPrints, type Unopened } from './secret-print-queries.ts'

/** Newest first; given at the first need, so that nothing is written where nothing is sealed. */
export type SecretKeys = () => Promise<Buffer[]>

type KeyConfig = Pick<Config, 'secretKey' | 'dataDir'>

export function openSecretKeys({ secretKey, dataDir }: KeyConfig): SecretKeys {
  let asked: Promise<Buffer[]> | undefined
  return () => {
    asked ??= secretKey ? Promise.resolve(keysIn(secretKey)) : ownKeys(dataDir)
    // A folder that cannot be written now may be so later.
    asked.catch(() => {
      asked = undefined
    })
    return asked
  }
}

const keyBytes = 32

/** The setting holds one key behind the other. */
export function keysIn(octets: Buffer): Buffer[] {
  const count = octets.length / keyBytes
  return Array.from({ length: count }, (_, at) => octets.subarray(at * keyBytes, (at + 1) * keyBytes))
}

async function ownKeys(dataDir: string): Promise<Buffer[]> {
  const path = join(dataDir, 'secret-key')
  const kept = await readFile(path, 'utf8').catch(unlessMissing)
  const text = kept ?? (await makeKey(path, dataDir))
  const keys = keysInText(text)
  if (keys.every((key) => key.length === keyBytes)) return keys
  throw new ConfigFault(`${path} does not hold 64 hexadecimal digits a line; put it back from a backup`)
}

/** A line that is no key gives none of the right length. */
export function keysInText(text: string): Buffer[] {
  const lines = text.trim().split(/\s*\n\s*/)
  return lines.map((line) => Buffer.from(/^[0-9a-f]{64}$/i.test(line) ? line : '', 'hex'))
}

/** Two processes may come here at once: a link to a finished file is made only once, and both read that. */
async function makeKey(path: string, dataDir: string): Promise<string> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writeFile(draft, `${randomBytes(keyBytes).toString('hex')}\n`, { mode: 0o600 })
  await giveToFolderOwner(draft)
  await link(draft, path).catch((error) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft)
  return readFile(path, 'utf8')
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

export const printOf = (key: Buffer) =>
  createHash('sha256').update('posthorn').update(key).digest('hex').slice(0, 16)

const otherKey =
  'this process has another secret key than those before it on this database: it can open nothing that they sealed, ' +
  'nor they what it seals, and links it signs are refused by them. ' +
  'Set POSTHORN_SECRET_KEY to one value for all processes'

/** What is wrong, when the keys of this process are strangers to the database, or when one of before is missing. */
export async function strangeKeys(db: Db, keys: SecretKeys): Promise<string | undefined> {
  const given = await keys()
  const { known } = await knowsPrints(db, given.map(printOf))
  if (!known) return otherKey
  const lost = unopenedInWords(await countUnopened(db, given.map(keyId)))
  return lost && `${lost}. ${howToBringBack}`
}

export const howToBringBack =
  'Put that key behind the newer one: after a comma in POSTHORN_SECRET_KEY, on a line of its own in secret-key'

/** A key that was replaced is still needed for what it sealed. */
export function unopenedInWords({ dkim_keys, webhooks, mailboxes }: Unopened): string | undefined {
  const counts = { 'DKIM keys': dkim_keys, webhooks, mailboxes }
  const found = Object.entries(counts).filter(([, count]) => count > 0)
  if (found.length === 0) return undefined
  const all = found.map(([what, count]) => `${what} (${count})`).join(', ')
  return `some secrets were sealed with a key that is not here: those of ${all}`
}

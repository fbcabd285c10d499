// What a backup takes from the data folder: the installation's secrets and its media.
import { open, readdir, readFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { Readable } from 'node:stream'
import type { Config } from '../config.ts'
import { keysIn, keysInText, printOf } from '../secret-key.ts'
import { BackupFault, entryOf, type Manifest } from './format.ts'
import type { Entry } from './tar.ts'

type Folder = Pick<Config, 'dataDir'>
type Keys = Pick<Config, 'secretKey' | 'dataDir'>

const secretFile = 'secret-key'
// The password of the embedded database belongs to that database, and is not among them.
export const secretFiles = [secretFile, 'tls-cert.pem', 'tls-key.pem']

export async function secretsIn({ dataDir }: Folder): Promise<Entry[]> {
  const found: Entry[] = []
  for (const name of secretFiles) {
    const content = await readFile(join(dataDir, name)).catch(unlessMissing)
    if (content) found.push(entryOf(`secrets/${name}`, content))
  }
  return found
}

/** A file that is deleted meanwhile is left out. */
export async function* mediaIn({ dataDir }: Folder): AsyncGenerator<Entry> {
  const folder = join(dataDir, 'media')
  for await (const path of filesBelow(folder)) {
    const file = await open(path).catch(unlessMissing)
    if (!file) continue
    const { size } = await file.stat()
    const name = path.slice(folder.length + 1).replaceAll(sep, '/')
    const body = size > 0 ? file.createReadStream({ end: size - 1 }) : Readable.from([])
    yield { name: `media/${name}`, size, body }
    await file.close().catch(() => undefined)
  }
}

async function* filesBelow(folder: string): AsyncGenerator<string> {
  for (const name of await mediaNames(folder)) {
    const whole = { recursive: true, withFileTypes: true } as const
    const found = await readdir(join(folder, name), whole).catch((error) => {
      if (error.code === 'ENOTDIR') return undefined
      return unlessMissing(error) ?? []
    })
    if (!found) yield join(folder, name)
    for (const one of found ?? []) if (one.isFile()) yield join(one.parentPath, one.name)
  }
}

/** Not what a restore keeps there, nor what the file system of a disk of its own does. */
export async function mediaNames(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(unlessMissing)) ?? []
  return names.filter((name) => !name.startsWith('.') && name !== 'lost+found')
}

/** Those that secrets are sealed with now: the setting's, or else the file's; nothing is made. */
export async function secretKeysAtHand(config: Keys): Promise<Buffer[]> {
  if (config.secretKey) return keysIn(config.secretKey)
  const text = await readFile(join(config.dataDir, secretFile), 'utf8').catch(unlessMissing)
  return text === undefined ? [] : keysInText(text)
}

export async function secretKeyPrints(config: Keys): Promise<Manifest['secret_keys']> {
  const keys = await secretKeysAtHand(config)
  return { prints: keys.map(printOf), included: !config.secretKey && keys.length > 0 }
}

/** Without its key a restored database would hold secrets that nobody can open. */
export async function refuseOtherKeys(config: Keys, { prints, included }: Manifest['secret_keys']) {
  if (included && !config.secretKey) return
  const here = (await secretKeyPrints(config)).prints
  if (prints.every((print) => here.includes(print))) return
  throw new BackupFault(
    'what is sealed in this backup opens only with the secret key it was made with: ' +
      'set POSTHORN_SECRET_KEY to that one, or have it among the older ones after commas',
  )
}

export function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

// What a backup takes from the data folder and puts back: the installation's secrets and its media.
import { createWriteStream } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, posix, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Config } from '../config.ts'
import { keysIn, keysInText, printOf } from '../secret-key.ts'
import { BackupFault, entryOf, type Manifest } from './format.ts'
import type { Entry } from './tar.ts'

type Folder = Pick<Config, 'dataDir'>
type Keys = Pick<Config, 'secretKey' | 'dataDir'>

const secretFile = 'secret-key'
// The password of the embedded database belongs to that database, and is not among them.
const secretFiles = [secretFile, 'tls-cert.pem', 'tls-key.pem']

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
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(unlessMissing)
  for (const one of found ?? []) {
    if (!one.isFile()) continue
    const path = join(one.parentPath, one.name)
    const file = await open(path).catch(unlessMissing)
    if (!file) continue
    const { size } = await file.stat()
    const name = path.slice(folder.length + 1).replaceAll(sep, '/')
    const body = size > 0 ? file.createReadStream({ end: size - 1 }) : Readable.from([])
    yield { name: `media/${name}`, size, body }
    await file.close().catch(() => undefined)
  }
}

/** Of the keys that secrets are sealed with now: the setting's, or else the file's. */
export async function secretKeyPrints(config: Keys): Promise<Manifest['secret_keys']> {
  if (config.secretKey) return { prints: keysIn(config.secretKey).map(printOf), included: false }
  const text = await readFile(join(config.dataDir, secretFile), 'utf8').catch(unlessMissing)
  return { prints: text === undefined ? [] : keysInText(text).map(printOf), included: text !== undefined }
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

/** Gathers what a restore brings for the folder, and puts it into place when the rest is ready. */
export function filesFor({ dataDir }: Folder) {
  const draft = join(dataDir, 'media.restoring')
  const secrets = new Map<string, Buffer>()
  return {
    begin: () => rm(draft, { recursive: true, force: true }),
    keepSecret(name: string, content: Buffer) {
      if (secretFiles.includes(name)) secrets.set(name, content)
    },
    async addMedia(name: string, body: AsyncIterable<Buffer>) {
      const path = join(draft, ...safeName(name))
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await pipeline(body, createWriteStream(path, { mode: 0o600 }))
    },
    async putInPlace() {
      await mkdir(dataDir, { recursive: true, mode: 0o700 })
      for (const [name, content] of secrets) await replaceFile(join(dataDir, name), content)
      await replaceFolder(join(dataDir, 'media'), draft)
    },
  }
}

function safeName(name: string): string[] {
  const parts = posix.normalize(name).split('/')
  if (name === '' || parts.some((part) => part === '..' || part === '') || parts.join('/') !== name)
    throw new BackupFault(`${JSON.stringify(name)} is not the name of a file below the folder of media`)
  return parts
}

/** What stood there before is kept beside it, unless it is the same. */
async function replaceFile(path: string, content: Buffer): Promise<void> {
  const kept = await readFile(path).catch(unlessMissing)
  if (kept?.equals(content)) return
  const draft = `${path}.restoring`
  await writeFile(draft, content, { mode: 0o600 })
  if (kept) await rename(path, `${path}.before-restore`)
  await rename(draft, path)
}

async function replaceFolder(path: string, draft: string): Promise<void> {
  const isThere = await readdir(draft).catch(unlessMissing)
  const before = `${path}.before-restore`
  const hadSome = await readdir(path).catch(unlessMissing)
  if (hadSome?.length) {
    await rm(before, { recursive: true, force: true })
    await rename(path, before)
  }
  if (!isThere) return
  await rm(path, { recursive: true, force: true })
  await rename(draft, path)
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

// The key that secrets in the database are sealed with: the operator's, or one made once in the data folder.
import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, ConfigFault } from './config.ts'

/** Gives the key at its first need, so that nothing is written where nothing is sealed. */
export type SecretKey = () => Promise<Buffer>

export function openSecretKey({ secretKey, dataDir }: Pick<Config, 'secretKey' | 'dataDir'>): SecretKey {
  let asked: Promise<Buffer> | undefined
  return () => {
    asked ??= secretKey ? Promise.resolve(secretKey) : ownKey(dataDir)
    // A folder that cannot be written now may be so later.
    asked.catch(() => {
      asked = undefined
    })
    return asked
  }
}

const keyBytes = 32

async function ownKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, 'secret-key')
  const kept = await readFile(path, 'utf8').catch(unlessMissing)
  const text = kept ?? (await makeKey(path, dataDir))
  const key = Buffer.from(text.trim(), 'hex')
  if (key.length === keyBytes) return key
  throw new ConfigFault(`${path} does not hold 64 hexadecimal digits; put it back from a backup`)
}

/** Two processes may come here at once: a link to a finished file is made only once, and both read that. */
async function makeKey(path: string, dataDir: string): Promise<string> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writeFile(draft, `${randomBytes(keyBytes).toString('hex')}\n`, { mode: 0o600 })
  await link(draft, path).catch((error) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft)
  return readFile(path, 'utf8')
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

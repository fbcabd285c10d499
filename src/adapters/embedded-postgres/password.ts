import { randomBytes } from 'node:crypto'
import { chown, link, open, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { failure, unless } from './failure.ts'
import { isRoot, ownerOf } from './server-user.ts'

export const passwordFile = (dataDir: string) => path.join(dataDir, 'postgres-password')

const read = async (file: string) => (await readFile(file, 'utf8').catch(unless(['ENOENT'], ''))).trim()

/** Made before the cluster, so that two first starts at the same moment agree on one password. */
export const keptPassword = async (dataDir: string, hasCluster: boolean): Promise<string> => {
  const file = passwordFile(dataDir)
  const kept = await read(file)
  if (kept !== '') return kept
  if (hasCluster)
    throw failure(
      `the password file ${file} is missing or empty: restore it together with the database beside it`,
    )
  await writeOnce(file)
  const made = await read(file)
  if (made === '') throw failure(`the password file ${file} is empty: remove it`)
  return made
}

const writeOnce = async (file: string) => {
  const draft = `${file}.new-${process.pid}-${randomBytes(4).toString('hex')}`
  try {
    await writeSecret(draft, `${randomBytes(32).toString('base64url')}\n`)
    // A link, unlike a rename, does not replace what another start put there first.
    await link(draft, file).catch(unless(['EEXIST'], undefined))
  } finally {
    await rm(draft, { force: true })
  }
  await syncFolder(path.dirname(file))
}

const writeSecret = async (file: string, text: string) => {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await giveToFolderOwner(file)
}

/** A command run as root in the folder of an ordinary user must leave nothing there that user cannot read. */
export const giveToFolderOwner = async (file: string) => {
  const owner = isRoot() ? await ownerOf(path.dirname(file)) : undefined
  if (owner !== undefined && owner.uid !== 0) await chown(file, owner.uid, owner.gid)
}

export const syncFolder = async (folder: string) => {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

// The data folder is there and can be written to, or the start ends with a line that names its variable.
import { access, constants, mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ConfigFault } from './config.ts'

export async function ensureDataFolder(dataDir: string): Promise<void> {
  try {
    await makeFolder(resolve(dataDir))
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' || code === 'ENOTDIR' ? 'a file is in its place' : (code ?? message)
    throw new ConfigFault(
      `POSTHORN_DATA_DIR must be a folder that this user can write to, not ${JSON.stringify(dataDir)} (${why})`,
    )
  }
}

/** One level after the other: made in one call, a folder below /proc would be tried for ever. */
async function makeFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (found?.isDirectory()) return
  if (!found && dirname(folder) !== folder) await makeFolder(dirname(folder))
  await mkdir(folder, { mode: 0o700 }).catch(async (error) => {
    const isThere = error.code === 'EEXIST' && (await stat(folder)).isDirectory()
    if (!isThere) throw error
  })
}

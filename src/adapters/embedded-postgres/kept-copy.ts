import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import path from 'node:path'
import { failure, messageOf, unless } from './failure.ts'
import { removeLeftovers } from './leftovers.ts'

const marker = '.complete'

type Source = { native: string; version: string }
type Finish = (folder: string) => Promise<unknown>

/** A copy made once per version, which other users can read and only we can change. */
export const keptCopy = async (source: Source, cacheDir: string, finish: Finish): Promise<string> => {
  const copy = path.join(cacheDir, `postgresql-${source.version}`)
  try {
    if (await mkdir(cacheDir, { recursive: true, mode: 0o755 })) await chmod(cacheDir, 0o755)
    await refuseForeign(cacheDir)
    await removeLeftovers(cacheDir)
    if (await exists(copy)) await refuseForeign(copy)
    if (!(await exists(path.join(copy, marker)))) await makeCopy(source, copy, finish)
    return copy
  } catch (error) {
    throw failure(`cannot keep the PostgreSQL programs in ${copy}: ${messageOf(error)}`, error)
  }
}

const exists = (file: string) => lstat(file).then(() => true, unless(['ENOENT'], false))

const refuseForeign = async (folder: string) => {
  const about = await lstat(folder)
  if (!about.isDirectory() || about.uid !== process.getuid?.() || (about.mode & 0o022) !== 0)
    throw failure(`${folder} could be changed by another user: remove it, or make it yours with mode 0755`)
}

const makeCopy = async (source: Source, copy: string, finish: Finish) => {
  const draft = `${copy}.new-${process.pid}-${randomBytes(4).toString('hex')}`
  try {
    await copyFolder(source.native, draft)
    await finish(draft)
    // The marker must not outlive the files after a power cut.
    spawnSync('sync', ['-f', draft], { stdio: 'ignore', timeout: 30_000 })
    await writeFile(path.join(draft, marker), '')
    await rename(draft, copy).catch(unless(['ENOTEMPTY', 'EEXIST'], undefined))
    await refuseForeign(copy)
    if (!(await exists(path.join(copy, marker)))) throw failure(`${copy} is incomplete: remove it`)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

const copyFolder = async (from: string, to: string): Promise<void> => {
  await mkdir(to)
  await chmod(to, 0o755)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)]
    if (entry.isDirectory()) await copyFolder(source, target)
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target)
    else await copyPlainFile(source, target)
  }
}

const copyPlainFile = async (source: string, target: string) => {
  await copyFile(source, target)
  await chmod(target, (await stat(source)).mode & 0o111 ? 0o755 : 0o644)
}

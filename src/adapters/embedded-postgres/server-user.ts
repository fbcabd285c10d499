import { chmod, lchown, readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { failure, unless } from './failure.ts'

export type ServerUser = { uid: number; gid: number }

export const isRoot = () => process.getuid?.() === 0

export const ownerOf = (file: string) =>
  stat(file).then(({ uid, gid }): ServerUser => ({ uid, gid }), unless(['ENOENT'], undefined))

/** PostgreSQL refuses to run as root, so root lends it another user; undefined: it runs as we do. */
export const chooseServerUser = async (dataDir: string, cluster: string): Promise<ServerUser | undefined> => {
  const owner = await ownerOf(cluster)
  if (!isRoot()) {
    if (owner !== undefined && owner.uid !== process.getuid?.())
      throw failure(`the database in ${cluster} belongs to user ${owner.uid}: run Posthorn as that user`)
    return undefined
  }
  if (process.platform !== 'linux')
    throw failure('the embedded PostgreSQL cannot run as root here: run Posthorn as an ordinary user')
  const owners = [owner, await ownerOf(dataDir)]
  return owners.find((each) => each !== undefined && each.uid !== 0) ?? unprivilegedUser()
}

const unprivilegedUser = async (): Promise<ServerUser> => {
  const users = parseUsers(await readFile('/etc/passwd', 'utf8').catch(unless(['ENOENT'], '')))
  const user = users.get('postgres') ?? users.get('nobody')
  if (user === undefined || user.uid === 0)
    throw failure('the embedded PostgreSQL needs a user "postgres" or "nobody" when Posthorn runs as root')
  return user
}

export const parseUsers = (passwd: string): Map<string, ServerUser> =>
  new Map(
    passwd.split('\n').flatMap((line): [string, ServerUser][] => {
      const [name, , uid, gid] = line.split(':')
      return name && uid && gid ? [[name, { uid: Number(uid), gid: Number(gid) }]] : []
    }),
  )

/** A cluster that root restored from a copy belongs to root, whom PostgreSQL refuses. */
export const handOver = async (cluster: string, user: ServerUser | undefined) => {
  if (user === undefined || (await ownerOf(cluster))?.uid !== 0) return
  for (const name of await readdir(cluster, { recursive: true }))
    await lchown(path.join(cluster, name), user.uid, user.gid)
  await chmod(cluster, 0o700)
  await lchown(cluster, user.uid, user.gid)
}

/** How to spawn a PostgreSQL program that works on the folder. The environment is bare: ours holds secrets. */
export const spawnAs = (user: ServerUser | undefined, folder: string) => ({
  ...user,
  cwd: folder,
  env: { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', TZ: 'UTC' },
})

/**
 * The folder may lie below one that the lent user cannot enter, such as root's home. The working directory is
 * changed before the user is, and stays usable through /proc.
 */
export const folderArgument = (user: ServerUser | undefined, folder: string) =>
  user === undefined ? folder : '/proc/self/cwd'

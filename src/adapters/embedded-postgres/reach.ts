import { constants } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import type { ServerUser } from './server-user.ts'

const { S_IRUSR: read, S_IXUSR: enter } = constants

const mayUse = async (file: string, user: ServerUser, wanted: number) => {
  const { uid, gid, mode } = await stat(file)
  const shift = uid === user.uid ? 0 : gid === user.gid ? 3 : 6
  const bits = wanted >> shift
  return (mode & bits) === bits
}

const parentsOf = (folder: string): string[] => {
  const parent = path.dirname(folder)
  return parent === folder ? [] : [parent, ...parentsOf(parent)]
}

const allHold = async (checks: Promise<boolean>[]) => (await Promise.all(checks)).every(Boolean)

/** Whether the user can run the programs in this folder; the groups it has besides its own do not count. */
export const isReachable = async (native: string, user: ServerUser): Promise<boolean> => {
  const folder = await realpath(native)
  const [bin, lib] = [path.join(folder, 'bin'), path.join(folder, 'lib')]
  const folders = [folder, bin, lib, path.join(folder, 'share'), path.join(folder, 'share', 'postgresql')]
  if (!(await allHold(parentsOf(folder).map((each) => mayUse(each, user, enter))))) return false
  if (!(await allHold(folders.map((each) => mayUse(each, user, read | enter))))) return false
  const programs = (await readdir(bin)).map((name) => mayUse(path.join(bin, name), user, read | enter))
  const libraries = (await readdir(lib)).map((name) => mayUse(path.join(lib, name), user, read))
  return allHold([...programs, ...libraries])
}

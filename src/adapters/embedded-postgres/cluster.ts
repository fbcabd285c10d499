import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Binaries } from './binaries.ts'
import { cannotRun, codeOf, failure, messageOf, unless } from './failure.ts'
import { syncFolder } from './password.ts'
import { folderArgument, type ServerUser, spawnAs } from './server-user.ts'

export type NewCluster = {
  cluster: string
  binaries: Binaries
  user: ServerUser | undefined
  password: string
}

const initdbLimitMs = 120_000

const versionOf = async (cluster: string) =>
  (await readFile(path.join(cluster, 'PG_VERSION'), 'utf8').catch(unless(['ENOENT', 'ENOTDIR'], ''))).trim()

export const hasCluster = async (cluster: string) => (await versionOf(cluster)) !== ''

const isEmpty = async (folder: string) =>
  (await readdir(folder).catch(unless(['ENOENT', 'ENOTDIR'], []))).length === 0

export const ensureCluster = async (wanted: NewCluster) => {
  if (await isEmpty(wanted.cluster)) await makeCluster(wanted)
  const version = await versionOf(wanted.cluster)
  if (version === '') throw failure(`${wanted.cluster} holds files but no database: move it away`)
  if (version !== wanted.binaries.major)
    throw failure(
      `the database in ${wanted.cluster} is of PostgreSQL ${version} and this Posthorn brings PostgreSQL ` +
        `${wanted.binaries.major}, which cannot read it: use the Posthorn version that made it`,
    )
}

const makeCluster = async (wanted: NewCluster) => {
  const draft = `${wanted.cluster}.new-${process.pid}-${randomBytes(4).toString('hex')}`
  try {
    const made = await initialise(wanted, draft)
    // Fails when another start was first; its cluster has the same password.
    await rename(made, wanted.cluster).catch(unless(['ENOTEMPTY', 'EEXIST', 'ENOTDIR'], undefined))
    await syncFolder(path.dirname(wanted.cluster))
  } finally {
    await rm(draft, { recursive: true, force: true, maxRetries: 3 })
  }
}

// initdb wants an empty folder and must be able to read the password, so the two stand side by side in the draft.
const initialise = async ({ binaries, user, password }: NewCluster, draft: string) => {
  const [made, pwfile] = [path.join(draft, 'cluster'), path.join(draft, 'pw')]
  await mkdir(draft, { mode: 0o700 })
  await mkdir(made, { mode: 0o700 })
  await writeFile(pwfile, password, { mode: 0o600, flag: 'wx' })
  if (user !== undefined) for (const each of [pwfile, made, draft]) await chown(each, user.uid, user.gid)
  const options = [
    ...['-D', folderArgument(user, made), '--username=posthorn', '--encoding=UTF8', '--locale=C'],
    ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--auth=scram-sha-256', '--pwfile=../pw'],
  ]
  const initdb = path.join(binaries.native, 'bin', 'initdb')
  await promisify(execFile)(initdb, options, { ...spawnAs(user, made), timeout: initdbLimitMs }).catch(
    (error) => {
      // A word instead of an exit code: the program was not even started.
      if (codeOf(error) !== undefined) throw cannotRun(error)
      throw failure(`cannot create the database in ${path.dirname(draft)}: ${reasonOf(error)}`, error)
    },
  )
  return made
}

const reasonOf = (error: unknown) => {
  const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
  return /error: (.*)/.exec(output)?.[1] ?? messageOf(error)
}

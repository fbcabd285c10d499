import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { locateBinaries, prepareBinaries } from './binaries.ts'
import { ensureCluster, hasCluster } from './cluster.ts'
import { removeLeftovers } from './leftovers.ts'
import { keptPassword } from './password.ts'
import type { Place } from './server.ts'
import { chooseServerUser, handOver } from './server-user.ts'

const clusterIn = (dataDir: string) => path.join(dataDir, 'postgres')

export const hasDatabase = (folder: string) => existsSync(clusterIn(path.resolve(folder)))

/** Everything a server needs before it can run: the programs, a user, the password and the cluster. */
export const preparePlace = async (folder: string): Promise<Place> => {
  const dataDir = path.resolve(folder)
  const cluster = clusterIn(dataDir)
  const found = await locateBinaries()
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await removeLeftovers(dataDir)
  const user = await chooseServerUser(dataDir, cluster)
  const binaries = await prepareBinaries(found, { dataDir, user })
  const password = await keptPassword(dataDir, await hasCluster(cluster))
  await ensureCluster({ cluster, binaries, user, password })
  await handOver(cluster, user)
  return { dataDir, cluster, logFile: path.join(dataDir, 'postgres.log'), binaries, user, password }
}

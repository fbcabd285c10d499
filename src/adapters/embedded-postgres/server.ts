import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import path from 'node:path'
import type { Binaries } from './binaries.ts'
import { type Deadline, deadlineIn, until } from './deadline.ts'
import { cannotRun, codeOf, failure } from './failure.ts'
import { readPidFile } from './pid-file.ts'
import { isServerOf } from './processes.ts'
import { openServerLog, readLogFrom } from './server-log.ts'
import { folderArgument, type ServerUser, spawnAs } from './server-user.ts'
import { prepareSockets } from './socket.ts'

export type Place = {
  dataDir: string
  cluster: string
  logFile: string
  binaries: Binaries
  user: ServerUser | undefined
  password: string
  /** Where clients expect it: the port of the server that this start replaces. */
  wantedPort?: number
}
export type Server = { pid: number; port: number; adopted: boolean }

const settings = {
  listen_addresses: '127.0.0.1',
  max_connections: '100',
  shared_buffers: '128MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  idle_in_transaction_session_timeout: '60s',
  log_checkpoints: 'off',
  // Statements and details would put addresses of recipients into the log.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
}

export const sparePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  await new Promise((done) => probe.close(done))
  if (address === null || typeof address === 'string') throw failure('cannot find a spare port on 127.0.0.1')
  return address.port
}

const portTries = 5

/** Undefined when another process was first; look for its server then. */
export const startServer = async (place: Place, deadline: Deadline, pickPort = sparePort) => {
  for (let tries = 1; ; tries += 1) {
    const port = (tries === 1 && place.wantedPort) || (await pickPort())
    const { pid, from } = await launch(place, port)
    if (await becomesReady(place, pid, deadline)) return { pid, port, adopted: false }
    const log = (await readLogFrom(place.logFile, from)).toString('utf8')
    const outcome = judge(log, pid)
    if (outcome === 'rival') return undefined
    if (outcome !== 'port taken' || tries === portTries)
      throw failure(`PostgreSQL did not start in ${place.cluster}: ${outcome} (see ${place.logFile})`)
  }
}

const launch = async ({ cluster, logFile, binaries, user }: Place, port: number) => {
  const { handle, from } = await openServerLog(logFile)
  try {
    const program = path.join(binaries.native, 'bin', 'postgres')
    // Its own folder, in which it runs.
    const sockets = { unix_socket_directories: (await prepareSockets(cluster)) ? '.' : '' }
    const flags = Object.entries({ ...settings, ...sockets }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ])
    // In a group of its own Ctrl-C reaches only us, and we close the connections before we stop the server.
    const child = spawn(program, ['-D', folderArgument(user, cluster), '-p', String(port), ...flags], {
      ...spawnAs(user, cluster),
      detached: true,
      stdio: ['ignore', 'ignore', handle.fd],
    })
    await once(child, 'spawn')
    child.unref()
    return { pid: child.pid ?? 0, from }
  } catch (error) {
    throw cannotRun(error)
  } finally {
    await handle.close()
  }
}

/** False when the server ended instead. One that still recovers when time is up is left to finish. */
export const becomesReady = async (place: Place, pid: number, deadline: Deadline): Promise<boolean> => {
  let isGone = false
  const settled = await until(async () => {
    const file = await readPidFile(place.cluster)
    if (file?.pid === pid && file.status === 'ready') return true
    isGone = !(await isServerOf(pid, place.cluster))
    return isGone
  }, deadline)
  if (!settled)
    throw failure(
      `PostgreSQL in ${place.cluster} is not ready yet: try again in a while, or see ${place.logFile}`,
    )
  return !isGone
}

const rivals = /lock file "postmaster\.pid" (already exists|is empty)|pre-existing shared memory block/

const judge = (log: string, pid: number): string => {
  const lines = log.split('\n').filter((line) => line !== '')
  const own = lines.filter((line) => line.includes(`[${pid}]`))
  const text = (own.length > 0 ? own : lines).join('\n')
  if (rivals.test(text)) return 'rival'
  if (/could not bind|could not create any TCP\/IP sockets/.test(text)) return 'port taken'
  return whyEnded(text) ?? whyEnded(log) ?? text.split('\n').at(-1) ?? 'it gave no reason'
}

/** Its own line, or that of a process of its; clients that came too early are told what the database system does. */
const whyEnded = (log: string) => /(?:FATAL|PANIC): +(?!the database system is )(.*)/.exec(log)?.[1]

const fastMs = 5000
const immediateMs = 10_000

/** Fast shutdown, which ends every session; after a while the immediate one, which recovers at the next start. */
export const shutDown = async (pid: number, cluster: string) => {
  const isGone = async () => !(await isServerOf(pid, cluster))
  for (const [signal, ms] of [
    ['SIGINT', fastMs],
    ['SIGQUIT', immediateMs],
  ] as const) {
    if (await isGone()) return
    try {
      process.kill(pid, signal)
    } catch (error) {
      if (codeOf(error) !== 'ESRCH') throw error
    }
    if (await until(isGone, deadlineIn(ms))) return
  }
  throw failure(`PostgreSQL (process ${pid}) in ${cluster} does not stop`)
}

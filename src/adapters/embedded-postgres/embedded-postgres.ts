import { tellOwned } from './elsewhere.ts'
import { EmbeddedPostgresError, failure, messageOf } from './failure.ts'
import { closeServer, type Joined, join, leaveToOthers, type Mode } from './join.ts'
import { hasDatabase, preparePlace } from './place.ts'
import { isServerOf } from './processes.ts'
import type { Place } from './server.ts'
import { type Following, followLog } from './server-log.ts'
import { socketHost } from './socket.ts'

export { EmbeddedPostgresError, hasDatabase }

export type EmbeddedPostgres = {
  url: string
  /** The same server, without the network where that can be. */
  nearUrl: string
  port: number
  /** A live server was found, for instance after the service was killed. */
  adopted: boolean
  /** We hold the service lock, so that stop() shuts the server down. */
  ownsServer: boolean
  stop(): Promise<void>
}

export type EmbeddedPostgresOptions = {
  dataDir: string
  /** A service owns the server or fails; a command uses the one that runs, or starts one for its own time. */
  mode: Mode
  waitMs?: number
  /** Tried first; set when a server that died is started again under its clients. */
  port?: number
  onLog?: (line: string) => void
  /** Another Posthorn owns the server, and its leaving is waited for. */
  onWait?: () => void
  /** The server, or our hold on it, was lost without our asking. */
  onExit?: (detail: string) => void
}

export const openEmbeddedPostgres = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  let log: Following | undefined
  try {
    const place = { ...(await preparePlace(options.dataDir)), wantedPort: options.port }
    if (options.onLog || options.mode === 'service') log = await followLog(place.logFile, options.onLog)
    const joined = await join(place, options, options.waitMs ?? 15_000)
    if (joined.owns) log?.keepShort()
    const ceaseTelling =
      joined.owns && options.mode === 'service' ? await tellOwned(place.dataDir) : undefined
    const near = await socketHost(place.cluster, joined.server.port)
    return { ...handleOf(place, joined, options, { log, ceaseTelling }), ...urlsOf(place, joined, near) }
  } catch (error) {
    await log?.stop()
    if (error instanceof EmbeddedPostgresError) throw error
    throw failure(`cannot use the data folder ${options.dataDir}: ${messageOf(error)}`, error)
  }
}

const handleOf = (
  place: Place,
  joined: Joined,
  { mode, onExit }: EmbeddedPostgresOptions,
  { log, ceaseTelling }: { log?: Following; ceaseTelling?: () => Promise<void> },
): Omit<EmbeddedPostgres, 'url' | 'nearUrl'> => {
  const { server, session, owns } = joined
  let stopping: Promise<void> | undefined
  session.onLost(async () => {
    const runs = await isServerOf(server.pid, place.cluster)
    const what = runs ? 'the connection to PostgreSQL was lost' : `PostgreSQL (process ${server.pid}) ended`
    if (stopping === undefined) onExit?.(`${what} unasked: see ${place.logFile}`)
  })
  const stop = () => {
    stopping ??= (mode === 'service' ? closeServer : leaveToOthers)(place, joined).finally(async () => {
      await ceaseTelling?.()
      await log?.stop()
    })
    return stopping
  }
  return { port: server.port, adopted: server.adopted, ownsServer: owns, stop }
}

const urlsOf = ({ password }: Place, { server }: Joined, near: string | undefined) => {
  // The driver reads PGSSLMODE, which is about other servers, where an address leaves it open.
  const urlAt = (host: string) =>
    `postgres://posthorn:${password}@${host}:${server.port}/posthorn?sslmode=disable`
  const url = urlAt('127.0.0.1')
  return { url, nearUrl: near === undefined ? url : urlAt(near) }
}

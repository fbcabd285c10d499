import { type Deadline, deadlineIn, pause, until } from './deadline.ts'
import { isOwnedElsewhere } from './elsewhere.ts'
import { codeOf, failure } from './failure.ts'
import { findOwnerProcess, isLastUser, shareServer, tryOwn, waitToOwn } from './locks.ts'
import { findServer } from './pid-file.ts'
import { becomesReady, type Place, type Server, shutDown, startServer } from './server.ts'
import { connect, isConnectionLoss, type Session } from './session.ts'

export type Mode = 'service' | 'command'
type Asked = { mode: Mode; onWait?: () => void }
export type Joined = { server: Server; session: Session; owns: boolean }

/** A server can end at any point, when the command that started it is done: then find or start one again. */
export const join = async (place: Place, asked: Asked, waitMs: number): Promise<Joined> => {
  const deadline = deadlineIn(waitMs)
  await waitForElsewhere(place, asked, deadline)
  for (;;) {
    const joined = await joinOnce(place, asked, deadline)
    if (joined !== undefined) return joined
    if (deadline.isOver())
      throw failure(`PostgreSQL in ${place.cluster} did not answer within ${waitMs} ms: see ${place.logFile}`)
    await pause(50)
  }
}

const elsewhereMs = 200

/** Its server cannot be seen from here, let alone used. */
const waitForElsewhere = async ({ dataDir }: Place, { onWait }: Asked, deadline: Deadline) => {
  if (!(await isOwnedElsewhere(dataDir))) return
  onWait?.()
  const isFree = async () => !(await isOwnedElsewhere(dataDir))
  if (await until(isFree, deadline, elsewhereMs)) return
  throw failure(
    `the data folder ${dataDir} is in use by a Posthorn in another container; ` +
      'processes that share the work need a server of their own: DATABASE_URL',
  )
}

const joinOnce = async (place: Place, asked: Asked, deadline: Deadline): Promise<Joined | undefined> => {
  const { mode, onWait } = asked
  const server = (await adoptServer(place, deadline)) ?? (await startServer(place, deadline))
  const session = server && (await connect(place, server, deadline))
  if (server === undefined || session === undefined) return undefined
  const joined = { server, session, owns: false }
  try {
    await shareServer(session, deadline)
    joined.owns = await tryOwn(session)
    if (mode === 'service' && !joined.owns) {
      onWait?.()
      joined.owns = await waitToOwn(session)
    }
    if (mode === 'service' && !joined.owns) throw await inUse(place, session)
    await ensureDatabase(session)
    return joined
  } catch (error) {
    await leaveToOthers(place, joined)
    if (isConnectionLoss(error) || codeOf(error) === '55P03') return undefined
    throw error
  }
}

const adoptServer = async (place: Place, deadline: Deadline): Promise<Server | undefined> => {
  const found = await findServer(place.cluster)
  if (found === undefined || !(await becomesReady(place, found.pid, deadline))) return undefined
  return { pid: found.pid, port: found.port, adopted: true }
}

const inUse = async (place: Place, session: Session) =>
  failure(
    `the data folder ${place.dataDir} is in use by another Posthorn (process ${await findOwnerProcess(session)}); ` +
      'processes that share the work need a server of their own: DATABASE_URL',
  )

const ensureDatabase = async (session: Session) => {
  await session.query("set lock_timeout = '10s'")
  const found = await session.query("select from pg_database where datname = 'posthorn'")
  if (found.length > 0) return
  await session.query('create database posthorn').catch((error) => {
    // A command beside us was first.
    if (!['42P04', '23505'].includes(codeOf(error) ?? '')) throw error
  })
}

/** The session, and with it the lock, ends last: nobody else takes a server that is about to end. */
export const closeServer = async (place: Place, { server, session }: Joined) => {
  try {
    if (!session.isLost()) await shutDown(server.pid, place.cluster)
  } finally {
    await session.end()
  }
}

/** The server goes on for as long as another Posthorn uses it. */
export const leaveToOthers = async (place: Place, joined: Joined) => {
  const { session, owns } = joined
  const isLast = !session.isLost() && (await isLastUser(session, owns).catch(() => false))
  await (isLast ? closeServer(place, joined) : session.end())
}

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Deadline, pause } from './deadline.ts'
import { codeOf, failure, messageOf } from './failure.ts'
import { passwordFile } from './password.ts'
import { isServerOf } from './processes.ts'
import { type Place, type Server, shutDown } from './server.ts'

export type Session = {
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  isLost(): boolean
  onLost(tell: () => void): void
  end(): Promise<void>
}

const notNow = new Set([
  '57P01',
  '57P02',
  '57P03',
  '53300',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
])

export const isConnectionLoss = (error: unknown) =>
  notNow.has(codeOf(error) ?? '') || /connection terminated|timeout|not queryable/i.test(messageOf(error))

/** Undefined when the server ended meanwhile. */
export const connect = async (place: Place, server: Server, deadline: Deadline) => {
  for (;;) {
    try {
      return await connectOnce(place, server, deadline)
    } catch (error) {
      if (codeOf(error) === '28P01') throw await wrongPassword(place, server)
      if (!isConnectionLoss(error)) throw error
      if (!(await isServerOf(server.pid, place.cluster))) return undefined
      if (deadline.isOver())
        throw failure(`PostgreSQL in ${place.cluster} refuses connections: ${messageOf(error)}`)
      await pause(50)
    }
  }
}

const wrongPassword = async (place: Place, server: Server) => {
  if (!server.adopted) await shutDown(server.pid, place.cluster)
  return failure(
    `the password in ${passwordFile(place.dataDir)} does not open the database in ${place.cluster}: ` +
      'restore the two from the same copy',
  )
}

const connectOnce = async (place: Place, server: Server, deadline: Deadline): Promise<Session> => {
  const client = new pg.Client({
    host: '127.0.0.1',
    port: server.port,
    user: 'posthorn',
    password: place.password,
    database: 'postgres',
    ssl: false,
    application_name: `posthorn ${process.pid}`,
    connectionTimeoutMillis: Math.min(5000, deadline.left() + 100),
    query_timeout: deadline.left() + 5000,
  })
  const session = sessionOf(client)
  try {
    await client.connect()
    const [file] = await session.query<{ text: string }>("select pg_read_file('postmaster.pid') as text")
    if (Number.parseInt(file?.text ?? '', 10) === server.pid) return session
    throw failure(`port ${server.port} is answered by another server than the one of ${place.cluster}`)
  } catch (error) {
    await session.end()
    throw error
  }
}

const endLimitMs = 1000

const endWithin = async (client: pg.Client) => {
  const limit = new AbortController()
  const tooLong = sleep(endLimitMs, undefined, { signal: limit.signal }).catch(() => undefined)
  await Promise.race([client.end().catch(() => undefined), tooLong])
  limit.abort()
}

const sessionOf = (client: pg.Client): Session => {
  let lost = false
  const tellWhenLost: (() => void)[] = []
  const lose = () => {
    if (lost) return
    lost = true
    for (const tell of tellWhenLost) tell()
  }
  client.on('error', lose)
  client.on('end', lose)
  return {
    query: async (text, values) => (await client.query(text, values)).rows,
    isLost: () => lost,
    onLost: (tell) => {
      // Lost already, perhaps in the packet that brought the last answer: nobody would start the server again.
      if (lost) tell()
      else tellWhenLost.push(tell)
    },
    end: () => endWithin(client),
  }
}

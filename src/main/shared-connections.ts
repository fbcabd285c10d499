// A pooler that gives a connection of the server to somebody else between two transactions takes away what Posthorn
// keeps in it: prepared statements, settings, and the lock of migrations, which then nobody could free.
import type pg from 'pg'
import { connectAlone } from './connect-alone.ts'

export const howToKeepConnections =
  'DATABASE_URL leads to a pooler that shares connections between transactions: ' +
  'use its session mode (PgBouncer: pool_mode = session), or the address of the server itself'

/** Whether the client has another connection of the server after somebody else asked for one. */
export async function isShared(client: pg.Client, url: string): Promise<boolean> {
  const mine = await serverProcess(client)
  // A pooler makes up the number that it tells a client; without one, it is the server's.
  if ((client as unknown as { processID: number }).processID === mine) return false
  const other = await connectAlone(url)
  try {
    for (let tries = 0; tries < 5; tries++) if (await isTaken(mine, client, other)) return true
    return false
  } finally {
    await other.end()
  }
}

/** The other one has a transaction open meanwhile, so that it keeps what it got. */
async function isTaken(mine: number, client: pg.Client, other: pg.Client): Promise<boolean> {
  const refused = await other.query('begin').then(
    () => false,
    (error) => error.code === protocolViolation || Promise.reject(error),
  )
  if (refused || (await serverProcess(other)) === mine) return true
  const taken = (await serverProcess(client)) !== mine
  await other.query('rollback')
  return taken
}

/** How poolers that share connections between statements refuse a transaction. */
const protocolViolation = '08P01'

async function serverProcess(client: pg.Client): Promise<number> {
  const { rows } = await client.query('select pg_backend_pid() as pid')
  return rows[0].pid
}

// A connection for whoever has no pool. One that is lost fails the statement under way, and never ends the process.
import pg from 'pg'
import { connectionTo, type Settings } from '../kernel/server-settings.ts'

export async function connectAlone(
  url: string,
  settings: Settings = {},
  more: pg.ClientConfig = {},
): Promise<pg.Client> {
  const client = new pg.Client({ ...connectionTo(url, settings), connectionTimeoutMillis: 5_000, ...more })
  client.on('error', () => {})
  await client.connect()
  return client
}

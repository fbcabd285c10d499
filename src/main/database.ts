// The database a command or the service uses: the one named by DATABASE_URL, or the embedded one.
import { openEmbeddedPostgres } from '../adapters/embedded-postgres/embedded-postgres.ts'
import { type Log, silentLog } from '../kernel/log.ts'
import type { Config } from './config.ts'

export type OpenedDatabase = { url: string; kind: 'embedded' | 'external'; close(): Promise<void> }

export async function openDatabase(
  config: Config,
  mode: 'service' | 'command',
  log: Log = silentLog,
): Promise<OpenedDatabase> {
  if (config.databaseUrl !== undefined) {
    return { url: config.databaseUrl, kind: 'external', close: async () => {} }
  }
  const embedded = await openEmbeddedPostgres({
    dataDir: config.dataDir,
    mode,
    onExit: (detail) => log.error({ detail }, 'the embedded database stopped'),
  })
  return { url: embedded.url, kind: 'embedded', close: () => embedded.stop() }
}

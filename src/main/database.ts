// The database a command or the service uses: the one named by DATABASE_URL, or the embedded one.
import {
  type EmbeddedPostgres,
  EmbeddedPostgresError,
  openEmbeddedPostgres,
} from '../adapters/embedded-postgres/embedded-postgres.ts'
import { type Log, silentLog } from '../kernel/log.ts'
import { settleRestore } from './backup/settle-restore.ts'
import type { Config } from './config.ts'
import { ensureDataFolder } from './data-folder.ts'
import { migrate, type OfOlderVersion, type Tell } from './migrate.ts'
import { databaseFault } from './setting-faults.ts'

export type OpenedDatabase = { url: string; kind: 'embedded' | 'external'; close(): Promise<void> }

export async function openDatabase(
  { databaseUrl, dataDir }: Config,
  mode: 'service' | 'command',
  log: Log = silentLog,
): Promise<OpenedDatabase> {
  if (databaseUrl !== undefined) {
    await settleRestore(dataDir, databaseUrl, log).catch(databaseFault)
    return { url: databaseUrl, kind: 'external', close: async () => {} }
  }
  await ensureDataFolder(dataDir)
  const opened = mode === 'service' ? await keepEmbedded(dataDir, log) : await openForCommand(dataDir)
  try {
    await settleRestore(dataDir, opened.url, log)
    return opened
  } catch (error) {
    await opened.close()
    throw error
  }
}

async function openForCommand(dataDir: string): Promise<OpenedDatabase> {
  const embedded = await openEmbeddedPostgres({ dataDir, mode: 'command' })
  return { url: embedded.url, kind: 'embedded', close: () => embedded.stop() }
}

/** Only the address of another server can be wrong. */
export function migrateOpened({ url, kind }: OpenedDatabase, tell: Tell, older?: OfOlderVersion) {
  const migrated = migrate(url, older, tell)
  return kind === 'external' ? migrated.catch(databaseFault) : migrated
}

const restartPausesMs = [0, 1_000, 5_000, 15_000, 60_000]

/** The service answers for its database: one that dies is started again, on the port that the pools know. */
async function keepEmbedded(dataDir: string, log: Log): Promise<OpenedDatabase> {
  let isClosing = false
  let restarting: Promise<void> | undefined
  const onWait = () => log.warn('waiting for another Posthorn to leave the data folder')
  const open = (at?: number) => openEmbeddedPostgres({ dataDir, mode: 'service', port: at, onExit, onWait })
  let embedded: EmbeddedPostgres
  // Where the pools look for it, whatever becomes of it.
  let first: EmbeddedPostgres

  function onExit(detail: string) {
    log.error({ detail }, 'the embedded database is gone; starting it again')
    restarting ??= restart().finally(() => {
      restarting = undefined
    })
  }

  async function restart() {
    for (let tries = 0; !isClosing; tries++) {
      await pause(restartPausesMs[Math.min(tries, restartPausesMs.length - 1)] ?? 0, () => isClosing)
      if (isClosing) return
      // Frees the lock when only the connection was lost.
      await embedded.stop().catch(() => undefined)
      const reopened = await open(first.port).catch((error) => error as Error)
      if (!(reopened instanceof Error)) {
        // By the network it is there with a socket too.
        const isWhereItWas = [reopened.nearUrl, reopened.url].includes(first.nearUrl)
        embedded = reopened
        // Somebody of an older version was faster: started once more, it is where the pools look for it.
        if (!isWhereItWas) continue
        return log.info('the embedded database is back')
      }
      log.error({ err: reopened }, 'the embedded database did not start')
      if (!(reopened instanceof EmbeddedPostgresError)) throw reopened
    }
  }

  first = await open()
  embedded = first
  return {
    url: first.nearUrl,
    kind: 'embedded',
    close: async () => {
      isClosing = true
      await restarting?.catch(() => undefined)
      await embedded.stop()
    },
  }
}

async function pause(ms: number, isOver: () => boolean): Promise<void> {
  const end = performance.now() + ms
  while (performance.now() < end && !isOver()) {
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

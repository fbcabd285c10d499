// A restore that was interrupted between its commit and its files: whoever opens the data folder next ends it.
import type pg from 'pg'
import { type Log, silentLog } from '../../kernel/log.ts'
import { takeLock } from '../migrate.ts'
import { connect, isRestored } from './catalog-queries.ts'
import { BackupFault } from './format.ts'
import { clearDrafts, type Journal, putInPlace, readJournal } from './restored-files.ts'

/** A restore that is still at work is waited for. */
export async function settleRestore(dataDir: string, url: string, log: Log = silentLog): Promise<void> {
  // Whoever may not read the folder has nothing to do in it.
  if (!(await readJournal(dataDir).catch(() => undefined))) return
  const client = await connect(url)
  try {
    await takeLock(client, (line) => log.warn(line))
    const journal = await readJournal(dataDir)
    if (journal) await settle(client, { dataDir, journal, log })
  } finally {
    await client.end()
  }
}

type Interrupted = { dataDir: string; journal: Journal; log: Log }

async function settle(client: pg.Client, { dataDir, journal, log }: Interrupted): Promise<void> {
  if (await isRestored(client, journal.id)) {
    await finishFiles(dataDir, journal)
    log.warn('a restore was interrupted after its commit; its files are in place now')
  } else {
    await clearDrafts(dataDir)
    log.warn('a restore was interrupted before its commit; database and files are as they were')
  }
}

export async function finishFiles(dataDir: string, journal: Journal): Promise<void> {
  await putInPlace(dataDir, journal).catch((error) => {
    throw new BackupFault(
      `the database is restored, but not all files of the data folder are in place: ${error.message}. ` +
        'Mend that; the next start or command puts them there',
    )
  })
}

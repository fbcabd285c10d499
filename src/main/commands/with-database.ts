import { readdirSync } from 'node:fs'
import { hasDatabase } from '../../adapters/embedded-postgres/embedded-postgres.ts'
import type { Db } from '../../kernel/db.ts'
import { silentLog } from '../../kernel/log.ts'
import { type Config, readConfig } from '../config.ts'
import { migrateOpened, openDatabase } from '../database.ts'
import { openPools } from '../wire.ts'
import { CommandFault, complain } from './print.ts'

/** Opens the database the service uses, beside a running service or alone, and closes it again. */
export async function withDatabase<T>(work: (db: Db) => Promise<T>, may?: { beFirst: true }): Promise<T> {
  const config = readConfig()
  if (!may?.beFirst) refuseMissingDatabase(config)
  const database = await openDatabase(config, 'command')
  try {
    await migrateOpened(database, complain, 'refuse')
    const pools = openPools({ url: database.url, log: silentLog, strict: false })
    try {
      return await work(pools.db)
    } finally {
      await pools.close()
    }
  } finally {
    await database.close()
  }
}

/** What only looks, or needs something to be there, makes no database: the folder may be the wrong one. */
export function refuseMissingDatabase({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl !== undefined || hasDatabase(dataDir)) return
  if (isClosed(dataDir))
    throw new CommandFault(
      `${dataDir} cannot be read by this user; run the command as the one that the service has`,
    )
  throw new CommandFault(
    `there is no Posthorn in ${dataDir}; start it once, or set POSTHORN_DATA_DIR to the folder that it uses`,
  )
}

function isClosed(folder: string): boolean {
  try {
    readdirSync(folder)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES'
  }
}

import type { Db } from '../../kernel/db.ts'
import { silentLog } from '../../kernel/log.ts'
import { readConfig } from '../config.ts'
import { migrateOpened, openDatabase } from '../database.ts'
import { openPools } from '../wire.ts'

/** Opens the database the service uses, beside a running service or alone, and closes it again. */
export async function withDatabase<T>(work: (db: Db) => Promise<T>): Promise<T> {
  const database = await openDatabase(readConfig(), 'command')
  try {
    await migrateOpened(database)
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

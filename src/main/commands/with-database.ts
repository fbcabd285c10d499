import type { Db } from '../../kernel/db.ts'
import { silentLog } from '../../kernel/log.ts'
import { readConfig } from '../config.ts'
import { openDatabase } from '../database.ts'
import { migrate } from '../migrate.ts'
import { openPools } from '../wire.ts'

/** Opens the database the service uses, beside a running service or alone, and closes it again. */
export async function withDatabase<T>(work: (db: Db) => Promise<T>): Promise<T> {
  const database = await openDatabase(readConfig(), 'command')
  try {
    await migrate(database.url)
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

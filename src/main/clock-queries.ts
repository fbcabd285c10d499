import type pg from 'pg'
import type { Db } from '../kernel/db.ts'
import { row, time } from '../kernel/row.ts'
import { sql } from '../kernel/sql.ts'

const Clock = row<{ at: Date }>({ at: time })

export async function readClock(db: Db): Promise<Date> {
  const { at } = await db.one(
    Clock,
    sql`
    -- all accounts: the clock is the server’s
    select clock_timestamp() as at`,
  )
  return at
}

/** The same for a command, which has no pool. */
export async function readClockOf(client: pg.Client): Promise<Date> {
  // all accounts: the clock is the server’s
  const { rows } = await client.query('select extract(epoch from clock_timestamp())::float8 * 1000 as ms')
  return new Date(rows[0].ms)
}

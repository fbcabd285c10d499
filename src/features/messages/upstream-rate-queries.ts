import type { Db } from '../../kernel/db.ts'
import { int, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

export type SlotsWanted = { upstream: string; count: number; perSecond: number }

// Each process takes little ahead, and an upstream is left alone for half a minute at most: a time further off was
// written by a clock that has been set back since, and would keep everything waiting until then.
const furthest = sql`interval '5 minutes'`
const freeFrom = sql`
  case when r.free_at between clock_timestamp() and clock_timestamp() + ${furthest} then r.free_at
       else clock_timestamp() end`

const Wait = row<{ wait_ms: number }>({ wait_ms: int })

/**
 * Takes the next slots of an upstream, one every 1/perSecond, for all processes by the database's clock.
 * Gives the time until the first of them. Slots that nobody took do not add up to a burst.
 */
export function takeSlots(db: Db, { upstream, count, perSecond }: SlotsWanted) {
  const seconds = count / perSecond
  return db.one(
    Wait,
    sql`
    insert into upstream_rates as r (upstream, free_at)
    values (${upstream}, clock_timestamp() + make_interval(secs => ${seconds}))
    on conflict (upstream) do update
       set free_at = ${freeFrom} + make_interval(secs => ${seconds})
    returning greatest(0, 1000 * (extract(epoch from r.free_at - clock_timestamp()) - ${seconds}))::float8 as wait_ms`,
  )
}

export function pushBack(db: Db, upstream: string, ms: number) {
  return db.run(sql`
    insert into upstream_rates as r (upstream, free_at)
    values (${upstream}, clock_timestamp() + make_interval(secs => ${ms / 1000}))
    on conflict (upstream) do update set free_at = greatest(${freeFrom}, excluded.free_at)`)
}

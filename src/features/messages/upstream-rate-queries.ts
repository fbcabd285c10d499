import type { Db } from '../../kernel/db.ts'
import { int, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

export type SlotsWanted = { upstream: string; count: number; perSecond: number }

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
       set free_at = greatest(r.free_at, clock_timestamp()) + make_interval(secs => ${seconds})
    returning greatest(0, 1000 * (extract(epoch from r.free_at - clock_timestamp()) - ${seconds}))::float8 as wait_ms`,
  )
}

export function pushBack(db: Db, upstream: string, ms: number) {
  return db.run(sql`
    insert into upstream_rates as r (upstream, free_at)
    values (${upstream}, clock_timestamp() + make_interval(secs => ${ms / 1000}))
    on conflict (upstream) do update set free_at = greatest(r.free_at, excluded.free_at)`)
}

import type { Db } from '../../kernel/db.ts'
import { int, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { lanes, type Stream } from './model.ts'

export type Backlog = { depth: number; oldest_s: number }

const BacklogRow = row<Backlog>({ depth: int, oldest_s: int })

// Beyond it nobody counts: what matters then is how long the oldest has waited.
const most = 100_000

/** What is due of all accounts, for whoever runs the service; the oldest also of what waits for its next try. */
export function readBacklog(db: Db, stream: Stream): Promise<Backlog> {
  return db.one(
    BacklogRow,
    sql`
    -- all accounts: a figure of the whole service
    select count(*)::int as depth,
           coalesce(extract(epoch from clock_timestamp() - least(min(due_at), (
             select min(greatest(m.created_at, m.scheduled_at))
               from (select message_id
                       from delivery_queue
                      where lane = ${lanes[stream]} and attempts > 0
                      order by message_id
                      limit 1000) tried
               join messages m on m.id = tried.message_id
              where m.attempts > 0))), 0)::int as oldest_s
      from (select due_at
              from delivery_queue
             where lane = ${lanes[stream]}
               and due_at <= clock_timestamp()
             limit ${most}) due`,
  )
}

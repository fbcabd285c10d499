import type { Db } from '../../kernel/db.ts'
import { json, row, text, texts, time } from '../../kernel/row.ts'
import { sql, when } from '../../kernel/sql.ts'
import type { Range } from '../../kernel/v3/dates.ts'
import type { EventType } from './model.ts'

export type EventFilter = Range & { types?: EventType[]; phone?: string; tags?: string[] }

export type EventRow = {
  id: string
  type: EventType
  at: Date
  data: { reason?: string; reply?: string }
  message_id: string
  recipient: string
  tags: string[]
}

const Event = row<EventRow>({
  id: text,
  type: json(),
  at: time,
  data: json(),
  message_id: text,
  recipient: text,
  tags: texts,
})

type Wanted = {
  filter: EventFilter
  after: { at: string; id: string } | undefined
  offset: number
  limit: number
  ascending: boolean
}

export function listSmsEvents(
  db: Db,
  accountId: string,
  { filter, after, ascending, limit, offset }: Wanted,
) {
  return db.many(
    Event,
    sql`
    select e.id, e.type, e.at, e.data, e.message_id, m.recipient, m.tags
      from sms_events e
      join sms_messages m on m.id = e.message_id
     where e.account_id = ${accountId}
       and e.at >= ${filter.since}
       and e.at < ${filter.until}
       ${when(filter.types, (types) => sql`and e.type = any(${types}::text[])`)}
       ${when(filter.phone, (phone) => sql`and m.recipient = ${phone}`)}
       ${when(filter.tags, (tags) => sql`and m.tags && ${tags}::text[]`)}
       ${when(after, ({ at, id }) =>
         ascending
           ? sql`and (e.at, e.id) > (${at}::timestamptz, ${id}::uuid)`
           : sql`and (e.at, e.id) < (${at}::timestamptz, ${id}::uuid)`,
       )}
     order by ${ascending ? sql`e.at, e.id` : sql`e.at desc, e.id desc`}
     limit ${limit}
    offset ${offset}`,
  )
}

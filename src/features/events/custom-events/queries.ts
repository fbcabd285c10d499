import type { Db } from '../../../kernel/db.ts'
import { int, json, maybe, row, text, time } from '../../../kernel/row.ts'
import { type Sql, sql, when } from '../../../kernel/sql.ts'
import type { Range } from '../../../kernel/v3/dates.ts'
import type { Slice } from '../../../kernel/v3/paging.ts'

export type NewEvent = {
  id: string
  contactId: string
  name: string
  date: string
  properties: Record<string, unknown>
  contactProperties: Record<string, unknown>
  objectType: string | null
  objectId: string | null
}

export function insertEvents(db: Db, accountId: string, events: NewEvent[], at: Date) {
  return db.run(sql`
    insert into custom_events
      (account_id, id, contact_id, name, event_date, properties, contact_properties, object_type, object_id,
       created_at)
    select ${accountId}, e.id, e."contactId", e.name, e.date, e.properties, e."contactProperties", e."objectType",
           e."objectId", ${at}
      from json_to_recordset(${JSON.stringify(events)}::json)
           as e (id uuid, "contactId" bigint, name text, date timestamptz, properties jsonb,
                 "contactProperties" jsonb, "objectType" text, "objectId" text)`)
}

export function insertEventNames(db: Db, accountId: string, names: string[], at: Date) {
  return db.run(sql`
    insert into custom_event_names (account_id, name, created_at)
    select ${accountId}, name, ${at} from unnest(${names}::text[]) as name
    on conflict do nothing`)
}

export type EventFilter = Range & { contactIds?: string[]; names?: string[]; objectTypes?: string[] }

function matches(filter: EventFilter): Sql {
  return sql`
    and e.event_date >= ${filter.since}
    and e.event_date < ${filter.until}
    ${when(filter.contactIds, (ids) => sql`and e.contact_id = any(${ids}::bigint[])`)}
    ${when(filter.names, (names) => sql`and e.name = any(${names}::text[])`)}
    ${when(filter.objectTypes, (types) => sql`and e.object_type = any(${types}::text[])`)}`
}

export type EventRow = {
  id: string
  contact_id: string
  name: string
  event_date: Date
  properties: Record<string, unknown>
  contact_properties: Record<string, unknown>
  object_type: string | null
}

const Event = row<EventRow>({
  id: text,
  contact_id: text,
  name: text,
  event_date: time,
  properties: json(),
  contact_properties: json(),
  object_type: maybe(text),
})

/** In the order in which they came. */
export function listEvents(db: Db, accountId: string, filter: EventFilter, slice: Slice) {
  const beyond = (after: string) => (slice.ascending ? sql`and e.id > ${after}` : sql`and e.id < ${after}`)
  return db.many(
    Event,
    sql`
    select e.id, e.contact_id, e.name, e.event_date, e.properties, e.contact_properties, e.object_type
      from custom_events e
     where e.account_id = ${accountId}
       ${matches(filter)}
       ${when(slice.after, beyond)}
     order by ${slice.ascending ? sql`e.id` : sql`e.id desc`}
     limit ${slice.limit}
    offset ${slice.offset}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countEvents(db: Db, accountId: string, filter: EventFilter) {
  return db.one(
    Count,
    sql`
    select count(*)::int as count from custom_events e where e.account_id = ${accountId} ${matches(filter)}`,
  )
}

const Name = row<{ id: string }>({ id: text })

/** By name, which is also its place in the list. */
export function listEventNames(db: Db, accountId: string, { after, limit, offset }: Slice) {
  return db.many(
    Name,
    sql`
    select name as id
      from custom_event_names
     where account_id = ${accountId}
       ${when(after, (last) => sql`and name > ${last}`)}
     order by name
     limit ${limit}
    offset ${offset}`,
  )
}

export function countEventNames(db: Db, accountId: string) {
  return db.one(
    Count,
    sql`select count(*)::int as count from custom_event_names where account_id = ${accountId}`,
  )
}

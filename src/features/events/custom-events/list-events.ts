import type { Ctx } from '../../../kernel/ctx.ts'
import { readRange } from '../../../kernel/v3/dates.ts'
import { partsOf } from '../../../kernel/v3/lenient.ts'
import { pageBySlice } from '../../../kernel/v3/paging.ts'
import { countEvents, type EventFilter, type EventRow, listEvents } from './queries.ts'

type Asked = {
  contact_id?: number[]
  event_name?: string[]
  object_type?: string[]
  startDate?: string
  endDate?: string
  limit?: number
  offset?: number
  sort?: 'asc' | 'desc'
  cursor?: string
}

const dayMs = 24 * 3_600_000
const usualDays = 183
const mostDays = 3_660

export async function pageOfEvents(ctx: Ctx, query: Asked) {
  const { accountId } = ctx.caller
  const filter = filterOf(ctx, query)
  const { contact_id, event_name, object_type, startDate, endDate } = query
  const asked = { contact_id, event_name, object_type, startDate, endDate }
  const list = { name: 'v3.events', filter: asked, usual: 100, most: 10_000, least: 1 as const }
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
    listEvents(ctx.db, accountId, filter, slice),
  )
  const { count } = await countEvents(ctx.db, accountId, filter)
  return { count, events: rows.map(show), next_cursor: nextCursor }
}

function filterOf({ now }: Ctx, query: Asked): EventFilter {
  const recent = {
    since: new Date(now.getTime() - usualDays * dayMs),
    until: new Date(now.getTime() + dayMs),
  }
  return {
    ...(readRange(query, mostDays) ?? recent),
    contactIds: listOrNone(query.contact_id?.map(String)),
    names: listOrNone(query.event_name),
    objectTypes: listOrNone(query.object_type),
  }
}

/** As they stand, since the type of an object may hold a comma, and the parts between commas. */
function listOrNone(values: string[] = []): string[] | undefined {
  const given = [...values, ...partsOf(values)].filter((one) => one !== '')
  return given.length > 0 ? given : undefined
}

function show(row: EventRow) {
  return {
    contact_id: Number(row.contact_id),
    event_name: row.name,
    event_date: row.event_date.toISOString(),
    event_properties: row.properties,
    contact_properties: row.contact_properties,
    ...(row.object_type === null ? {} : { object_type: row.object_type }),
  }
}

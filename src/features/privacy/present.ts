// Rows of an export as /api/v1 writes things: times in one form, identifiers with their prefix.
import { showId } from '../../kernel/id.ts'

type Row = Record<string, unknown>

const times = new Set(['at', 'date', 'consent_date', 'event_date', 'schedule'])
const prefixes: Record<string, string> = { message_id: 'msg', event_id: 'evt', automation_id: 'aut' }
const asWritten = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d(?::\d\d)?$/
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

/** What the customer gave (attributes, properties, contents) stays as it is: only the columns themselves are read. */
export function present(rows: Row[], prefix?: string): Row[] {
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => shown(name, value, prefix))),
  )
}

function shown(name: string, value: unknown, prefix: string | undefined): [string, unknown] {
  if (name === 'events' && Array.isArray(value)) return [name, present(value, 'evt')]
  if (times.has(name) || name.endsWith('_at')) return [name, timeOf(value)]
  const named = name === 'id' ? prefix : prefixes[name]
  const isId = named !== undefined && typeof value === 'string' && uuid.test(value)
  return [name, isId ? showId(named, value) : value]
}

function timeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(timeOf)
  return typeof value === 'string' && asWritten.test(value) ? new Date(value).toISOString() : value
}

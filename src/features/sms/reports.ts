// The provider's reports on SMS.
import type { Ctx } from '../../kernel/ctx.ts'
import { daysOf, readRangeOrDays } from '../../kernel/v3/dates.ts'
import { storable } from '../../kernel/v3/lenient.ts'
import { pageBySlice } from '../../kernel/v3/paging.ts'
import { readTags } from '../../kernel/v3/tags.ts'
import { readPhone } from '../contacts/contacts/read-ref.ts'
import { type ReportRow, readReportRows } from '../messages/counts/report-queries.ts'
import type { EventType } from './model.ts'
import { type EventFilter, type EventRow, listSmsEvents } from './statistics-queries.ts'

/** The words of its lists, each with what it stands for. */
export const eventWords = {
  sent: 'sent',
  accepted: 'accepted',
  delivered: 'delivered',
  hardBounces: 'hard_bounce',
  softBounces: 'soft_bounce',
  unsubscription: 'unsubscribed',
  replies: 'replied',
  blocked: 'blocked',
  rejected: 'rejected',
  skipped: 'skipped',
} as const satisfies Record<string, EventType>

export type EventWord = keyof typeof eventWords

export const wordOf = (type: EventType) =>
  (Object.keys(eventWords) as EventWord[]).find((word) => eventWords[word] === type) as EventWord

const bounces: EventType[] = ['hard_bounce', 'soft_bounce']

const longestDays = 90

type Dates = { startDate?: string; endDate?: string; days?: number }
type Asked = Dates & { tag?: string }

const counters = {
  requests: 'requests',
  accepted: 'accepted',
  delivered: 'delivered',
  hardBounces: 'hard_bounce',
  softBounces: 'soft_bounce',
  blocked: 'blocked',
  unsubscribed: 'unsubscribed',
  replied: 'replied',
  rejected: 'rejected',
  skipped: 'skipped',
} as const

export type Counter = keyof typeof counters
export const counterNames = Object.keys(counters) as Counter[]

function countersOf(rows: ReportRow[]): Record<Counter, number> {
  const counts = new Map(rows.map(({ name, n }) => [name, n]))
  const of = (name: Counter) => counts.get(`sms.${counters[name]}`) ?? 0
  return Object.fromEntries(counterNames.map((name) => [name, of(name)])) as Record<Counter, number>
}

async function countedIn(ctx: Ctx, query: Asked, byDay: boolean) {
  const days = daysOf(readRangeOrDays(ctx, query, { usual: 30, most: longestDays }))
  const [first, last] = [days[0] ?? '', days.at(-1) ?? '']
  const tag = query.tag && storable(query.tag)
  return { days, rows: await readReportRows(ctx.db, ctx.caller.accountId, { first, last, tag, byDay }) }
}

export async function aggregatedSmsReport(ctx: Ctx, query: Asked) {
  const { days, rows } = await countedIn(ctx, query, false)
  return { range: `${days[0]}|${days.at(-1)}`, ...countersOf(rows) }
}

/** Days on which nothing happened are reported as well. */
export async function dailySmsReports(ctx: Ctx, query: Asked & { sort?: 'asc' | 'desc' }) {
  const { days, rows } = await countedIn(ctx, query, true)
  const wanted = query.sort === 'asc' ? days : days.reverse()
  return wanted.map((date) => ({ date, ...countersOf(rows.filter(({ day }) => day === date)) }))
}

type AskedEvents = Dates & {
  event?: EventWord | 'bounces'
  phoneNumber?: string
  tags?: string[]
  limit?: number
  offset?: number
  sort?: 'asc' | 'desc'
  cursor?: string
}

export function pageOfSmsEvents(ctx: Ctx, query: AskedEvents) {
  const { event, phoneNumber, tags } = query
  const filter: EventFilter = {
    ...readRangeOrDays(ctx, query, { usual: 30, most: longestDays }),
    types: event && (event === 'bounces' ? bounces : [eventWords[event]]),
    phone: phoneNumber ? (readPhone(phoneNumber) ?? storable(phoneNumber)) : undefined,
    tags: readTags(tags),
  }
  const at = (row: EventRow) => `${row.at.toISOString()} ${row.id}`
  // As asked, since "the last days" are others tomorrow.
  const { limit: _limit, offset: _offset, cursor: _cursor, ...asked } = query
  return pageBySlice(
    ctx,
    query,
    { name: 'v3.sms_events', filter: asked, usual: 50, most: 100, at },
    ({ after, ...slice }) => {
      const [time = '', id = ''] = after?.split(' ') ?? []
      const position = after === undefined ? undefined : { at: time, id }
      return listSmsEvents(ctx.db, ctx.caller.accountId, { ...slice, filter, after: position })
    },
  )
}

// The provider's reports on transactional mail.
import type { Ctx } from '../../../kernel/ctx.ts'
import { normalEmail } from '../../../kernel/email-address.ts'
import { daysOf, type Range, readRangeOrDays } from '../../../kernel/v3/dates.ts'
import { storable } from '../../../kernel/v3/lenient.ts'
import { pageBySlice, type Slice } from '../../../kernel/v3/paging.ts'
import { readTags } from '../../../kernel/v3/tags.ts'
import { readSettings } from '../../accounts/settings/settings.ts'
import { type Counted, clickBits, countedBy, openBits } from '../../messages/counts/read-counts.ts'
import { readReportRows } from '../../messages/counts/report-queries.ts'
import { bracketed } from '../../transactional/v3/emails.ts'
import { type FilterWord, wordsFor } from '../../transactional/v3/event-words.ts'
import { countOfFilter, countTagged, type EventFilter, type EventRow, listEmailEvents } from './queries.ts'

export type Asked = { startDate?: string; endDate?: string; days?: number; tag?: string }

const longestDays = 90

/** Of whole days, as `range` tells, even if times of day were asked for. */
export async function aggregatedReport(ctx: Ctx, query: Asked) {
  const days = daysOf(readRangeOrDays(ctx, query, { usual: longestDays, most: longestDays }))
  const counters = await countersBy(ctx, days, query.tag, false)
  return { range: `${days[0]}|${days.at(-1)}`, ...counters('') }
}

type Paged = Asked & { limit?: number; offset?: number; sort?: 'asc' | 'desc'; cursor?: string }

export async function dailyReports(ctx: Ctx, query: Paged) {
  const range = readRangeOrDays(ctx, query, { usual: 30, most: longestDays })
  const { startDate, endDate, days, tag } = query
  const list = { name: 'v3.email_reports', filter: { startDate, endDate, days, tag }, usual: 10, most: 30 }
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, async (slice) => daysIn(range, slice))
  const counters = await countersBy(ctx, rows.map(({ id }) => id).sort(), tag, true)
  return { reports: rows.map(({ id }) => ({ date: id, ...counters(id) })), next_cursor: nextCursor }
}

/** Days on which nothing happened are reported as well. */
function daysIn(range: Range, { after, offset, limit, ascending }: Slice): { id: string }[] {
  const days = ascending ? daysOf(range) : daysOf(range).reverse()
  const first = after === undefined ? offset : days.indexOf(after) + 1
  return days.slice(first, first + limit).map((id) => ({ id }))
}

/** Of the days from the first to the last. */
async function countersBy(ctx: Ctx, days: string[], tag: string | undefined, byDay: boolean) {
  const [first, last] = [days[0] ?? '', days.at(-1) ?? '']
  const of = { first, last, tag: tag && storable(tag), byDay }
  const rows = first === '' ? [] : await readReportRows(ctx.db, ctx.caller.accountId, of)
  const counted = countedBy(await readSettings(ctx))
  return (day: string) =>
    countersOf(new Map(rows.filter((one) => one.day === day).map(({ name, n }) => [name, n])), counted)
}

function countersOf(counts: Map<string, number>, { robots, proxies }: Counted) {
  const of = (name: string) => counts.get(name) ?? 0
  const byAll = (word: string) => of(word) + (robots ? of(`${word}.robot`) : 0)
  return {
    requests: of('requests'),
    delivered: of('delivered'),
    hardBounces: of('hardBounces'),
    softBounces: of('softBounces'),
    clicks: byAll('clicks'),
    uniqueClicks: of(`unique.${clickBits({ robots })}`),
    opens: byAll('opened') + (proxies ? of('loadedByProxy') : 0),
    uniqueOpens: of(`unique.${openBits({ robots, proxies })}`),
    spamReports: of('spam'),
    blocked: of('blocked'),
    // Addresses are checked before a message is accepted.
    invalid: 0,
    unsubscribed: of('unsubscribed'),
  }
}

async function areFewTagged(
  { db, caller: { accountId } }: Ctx,
  tags: string[] | undefined,
): Promise<boolean> {
  return tags !== undefined && (await countTagged(db, accountId, tags, fewMessages)).count < fewMessages
}

type AskedEvents = Omit<Paged, 'tag'> & {
  event?: FilterWord
  email?: string
  tags?: string[]
  messageId?: string
  templateId?: number
  cursor?: string
}

export async function pageOfEmailEvents(ctx: Ctx, query: AskedEvents) {
  const filter: EventFilter = {
    ...readRangeOrDays(ctx, query, { usual: 30, most: longestDays }),
    words: query.event && wordsFor(query.event),
    email: query.email ? (normalEmail(query.email) ?? storable(query.email)) : undefined,
    tags: readTags(query.tags),
    messageId: query.messageId ? bracketed(query.messageId) : undefined,
    templateId: query.templateId,
  }
  const at = (row: EventRow) => `${row.at.toISOString()} ${row.id}`
  // As asked, since "the last days" are others tomorrow.
  const { limit: _limit, offset: _offset, cursor: _cursor, ...asked } = query
  return pageBySlice(
    ctx,
    query,
    { name: 'v3.email_events', filter: asked, usual: 2500, most: 5000, at },
    (slice) => readEvents(ctx, filter, slice),
  )
}

const fewMessages = 2_000

async function readEvents(ctx: Ctx, asked: EventFilter, slice: Slice) {
  const { db, caller, now } = ctx
  const { accountId } = caller
  const filter = { ...asked, areFew: await areFewTagged(ctx, asked.tags) }
  const [time = '', id = ''] = slice.after?.split(' ') ?? []
  const after = slice.after === undefined ? undefined : { at: time, id }
  const isNarrow = [filter.email, filter.messageId, filter.templateId].some((one) => one !== undefined)
  const byMessage =
    filter.areFew ||
    (isNarrow && (await countOfFilter(db, accountId, filter, fewMessages)).count < fewMessages)
  const read = (range: Range) =>
    listEmailEvents(db, accountId, { ...slice, filter: { ...filter, ...range }, byMessage, after })
  return byMessage
    ? read(filter)
    : readInParts(beyond(filter, time, slice.ascending), { ...slice, now }, read)
}

/** What is left of the time from where the last page ended. */
function beyond({ since, until }: Range, time: string, ascending: boolean): Range {
  if (time === '') return { since, until }
  return ascending ? { since: new Date(time), until } : { since, until: new Date(Date.parse(time) + 1) }
}

const hourMs = 3_600_000

/** A page is usually full after some hours of mail: further ones are read only when it is not. */
async function readInParts<Row>(
  { since, until }: Range,
  { ascending, limit, now }: { ascending: boolean; limit: number; now: Date },
  read: (range: Range) => Promise<Row[]>,
): Promise<Row[]> {
  const newest = Math.min(until.getTime(), now.getTime())
  for (let span = hourMs; ; span *= 8) {
    const end = ascending ? since.getTime() + span : newest - span
    const isWhole = ascending ? end >= until.getTime() : end <= since.getTime()
    if (isWhole) return read({ since, until })
    const rows = await read(ascending ? { since, until: new Date(end) } : { since: new Date(end), until })
    if (rows.length >= limit) return rows
  }
}

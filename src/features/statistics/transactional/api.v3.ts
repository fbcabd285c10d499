import { Type } from 'typebox'
import { operation } from '../../../kernel/operation.ts'
import { closed, orNull, Time, words } from '../../../kernel/schema.ts'
import { daysQuery, rangeQuery } from '../../../kernel/v3/dates.ts'
import { listQuery } from '../../../kernel/v3/paging.ts'
import { outOfRange } from '../../../kernel/v3/refusals.ts'
import { tagsQuery } from '../../../kernel/v3/tags.ts'
import { upstreamWords } from '../../messages/bounces/upstream-words.ts'
import { filterWords, reportWords } from '../../transactional/v3/event-words.ts'
import type { EventRow } from './queries.ts'
import { aggregatedReport, dailyReports, pageOfEmailEvents } from './reports.ts'

const Text = Type.String()
const Count = Type.Integer()

const counters = {
  requests: Count,
  delivered: Count,
  hardBounces: Count,
  softBounces: Count,
  clicks: Count,
  uniqueClicks: Count,
  opens: Count,
  uniqueOpens: Count,
  spamReports: Count,
  blocked: Count,
  invalid: Count,
  unsubscribed: Count,
}

const tag = Type.Optional(Type.String({ maxLength: 255 }))
const shared = { area: 'Transactional', scope: 'analytics.read', effect: 'read' } as const

export const getAggregatedReport = operation({
  ...shared,
  refusals: [outOfRange],
  name: 'stats.email_aggregated',
  http: 'GET /v3/smtp/statistics/aggregatedReport',
  summary: 'Read the counters of transactional email over a period',
  query: closed({ ...rangeQuery, ...daysQuery, tag }),
  reply: closed({ range: Text, ...counters }),
}).run((ctx, { query }) => aggregatedReport(ctx, query))

export const getEmailReports = operation({
  ...shared,
  refusals: [outOfRange],
  name: 'stats.email_reports',
  http: 'GET /v3/smtp/statistics/reports',
  summary: 'Read the counters of transactional email, day by day',
  query: closed({
    ...rangeQuery,
    ...daysQuery,
    tag,
    ...listQuery,
  }),
  reply: closed({
    reports: Type.Array(closed({ date: Text, ...counters })),
    next_cursor: orNull(Text),
  }),
}).run((ctx, { query }) => dailyReports(ctx, query))

const Event = closed({
  email: Text,
  date: Time,
  messageId: Text,
  event: words(reportWords),
  subject: Text,
  reason: Type.Optional(Text),
  tag: Type.Optional(Text),
  ip: Type.Optional(Text),
  link: Type.Optional(Text),
  from: Text,
  templateId: Type.Optional(Type.Integer()),
})

export const listEmailEventsV3 = operation({
  ...shared,
  refusals: [outOfRange],
  name: 'stats.email_events',
  http: 'GET /v3/smtp/statistics/events',
  summary: 'List what happened to transactional email, newest first',
  query: closed({
    ...rangeQuery,
    ...daysQuery,
    event: Type.Optional(words(filterWords)),
    email: Type.Optional(Type.String({ maxLength: 320 })),
    ...tagsQuery,
    messageId: Type.Optional(Type.String({ maxLength: 1000 })),
    templateId: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    ...listQuery,
  }),
  reply: closed({ events: Type.Array(Event), next_cursor: orNull(Text) }),
}).run(async (ctx, { query }) => {
  const { rows, nextCursor } = await pageOfEmailEvents(ctx, query)
  return { events: rows.map(show), next_cursor: nextCursor }
})

function show(row: EventRow) {
  const told = (name: string) => {
    const value = row.data[name]
    return typeof value === 'string' ? value : undefined
  }
  return {
    email: row.recipient,
    date: row.at.toISOString(),
    messageId: row.message_id,
    event: row.word,
    subject: row.subject,
    reason: upstreamWords(row.data),
    tag: row.tag ?? undefined,
    ip: told('ip'),
    link: told('url'),
    from: row.sender,
    templateId: row.template_id === null ? undefined : Number(row.template_id),
  }
}

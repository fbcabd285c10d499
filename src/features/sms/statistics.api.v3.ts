import { Type } from 'typebox'
import { operation } from '../../kernel/operation.ts'
import { closed, orNull, Time, words } from '../../kernel/schema.ts'
import { daysQuery, rangeQuery } from '../../kernel/v3/dates.ts'
import { listQuery } from '../../kernel/v3/paging.ts'
import { outOfRange } from '../../kernel/v3/refusals.ts'
import { tagsQuery } from '../../kernel/v3/tags.ts'
import {
  aggregatedSmsReport,
  type Counter,
  counterNames,
  dailySmsReports,
  type EventWord,
  eventWords,
  pageOfSmsEvents,
  wordOf,
} from './reports.ts'
import type { EventRow } from './statistics-queries.ts'

const Text = Type.String()
const counters = Object.fromEntries(counterNames.map((name) => [name, Type.Integer()])) as Record<
  Counter,
  ReturnType<typeof Type.Integer>
>
const wordNames = Object.keys(eventWords) as EventWord[]
const tag = Type.Optional(Type.String({ maxLength: 255 }))
const shared = { area: 'Transactional', scope: 'analytics.read', effect: 'read' } as const

export const getAggregatedSmsReport = operation({
  ...shared,
  refusals: [outOfRange],
  name: 'stats.sms_aggregated',
  http: 'GET /v3/transactionalSMS/statistics/aggregatedReport',
  summary: 'Read the counters of SMS over a period',
  query: closed({ ...rangeQuery, ...daysQuery, tag }),
  reply: closed({ range: Text, ...counters }),
}).run((ctx, { query }) => aggregatedSmsReport(ctx, query))

export const getSmsReports = operation({
  ...shared,
  refusals: [outOfRange],
  name: 'stats.sms_reports',
  http: 'GET /v3/transactionalSMS/statistics/reports',
  summary: 'Read the counters of SMS, day by day',
  query: closed({ ...rangeQuery, ...daysQuery, tag, sort: listQuery.sort }),
  reply: closed({ reports: Type.Array(closed({ date: Text, ...counters })) }),
}).run(async (ctx, { query }) => ({ reports: await dailySmsReports(ctx, query) }))

const Event = closed({
  phoneNumber: Text,
  date: Time,
  messageId: Text,
  event: words(wordNames),
  reason: Type.Optional(Text),
  reply: Type.Optional(Text),
  tag: Type.Optional(Text),
})

export const listSmsEventsV3 = operation({
  ...shared,
  refusals: [outOfRange],
  name: 'stats.sms_events',
  http: 'GET /v3/transactionalSMS/statistics/events',
  summary: 'List what happened to SMS, newest first',
  query: closed({
    ...rangeQuery,
    ...daysQuery,
    event: Type.Optional(words([...wordNames, 'bounces'])),
    phoneNumber: Type.Optional(Type.String({ maxLength: 40 })),
    ...tagsQuery,
    ...listQuery,
  }),
  reply: closed({ events: Type.Array(Event), next_cursor: orNull(Text) }),
}).run(async (ctx, { query }) => {
  const { rows, nextCursor } = await pageOfSmsEvents(ctx, query)
  return { events: rows.map(show), next_cursor: nextCursor }
})

function show({ recipient, at, message_id, type, data, tags }: EventRow) {
  return {
    phoneNumber: recipient,
    date: at.toISOString(),
    messageId: message_id,
    event: wordOf(type),
    reason: data.reason,
    reply: data.reply,
    tag: tags.length > 1 ? JSON.stringify(tags) : tags[0],
  }
}

import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { answer, operation } from '../../../kernel/operation.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { closed, orNull, Time } from '../../../kernel/schema.ts'
import { rangeQuery } from '../../../kernel/v3/dates.ts'
import { listQuery, ownLimits, pageBySlice } from '../../../kernel/v3/paging.ts'
import { outOfRange } from '../../../kernel/v3/refusals.ts'
import { contactExists } from '../../contacts/contacts/contact-exists.ts'
import { lockContacts } from '../../contacts/contacts/queries.ts'
import { recipientSuppressed } from '../../messages/refusals.ts'
import { byPerson } from './by-person.ts'
import { EventBody, type GivenEvent, readEvent } from './event-body.ts'
import { pageOfEvents } from './list-events.ts'
import { countEventNames, listEventNames, type NewEvent } from './queries.ts'
import { recordEvents, resolveEvent } from './record-events.ts'

const write = { area: 'Events', scope: 'events.write', effect: 'change' } as const
const read = { area: 'Events', scope: 'analytics.read', effect: 'read' } as const
const refusals = [recipientSuppressed, contactExists]

export const createEventV3 = operation({
  ...write,
  name: 'event.create',
  http: 'POST /v3/events',
  needs: ['event_name', 'identifiers'],
  summary: 'Record a custom event; automations of its name start',
  body: EventBody,
  secret: ['event_properties', 'contact_properties'],
  status: 204,
  reply: Type.Null(),
  refusals,
}).run(async (ctx, { body }) => {
  await recordEvents(ctx, [await resolveEvent(ctx, readEvent(body, ctx.now))])
  return null
})

const mostInBatch = 1000
const Events = Type.Array(EventBody, { maxItems: mostInBatch })
type Batch = EventBody[] | { events?: EventBody[] }

// Some clients send the list itself.
const BatchBody = Type.Unsafe<Batch>({
  type: ['object', 'array'],
  properties: { events: Events },
  additionalProperties: false,
  items: EventBody,
  maxItems: mostInBatch,
})

const BatchError = closed({ eventIndex: Type.Array(Type.Integer()), message: Type.String() })
type BatchError = Static<typeof BatchError>

export const createEventsV3 = operation({
  ...write,
  name: 'event.batch',
  http: 'POST /v3/events/batch',
  summary: `Record up to ${mostInBatch} custom events`,
  description: 'Those that are refused are told by their place in the list, and the others recorded.',
  body: BatchBody,
  maxBodyBytes: 20 * 1024 * 1024,
  secret: ['events'],
  status: 202,
  reply: Type.Union([
    closed({ message: Type.String(), count: Type.Integer() }),
    closed({
      status: Type.String(),
      total_events: Type.Integer(),
      successful_events: Type.Integer(),
      failed_events: Type.Integer(),
      errors: Type.Array(BatchError),
    }),
  ]),
}).run(async (ctx, { body }) => {
  const given = Array.isArray(body) ? body : (body.events ?? [])
  if (given.length === 0) throw missingParameter({ message: 'events is missing', param: 'events' })
  const { events, errors } = await sortEvents(ctx, given)
  refuseAll(events, errors)
  await recordEvents(ctx, events)
  if (errors.length === 0) return answer(202, { message: 'Events recorded', count: events.length })
  return answer(202, {
    status: 'partial_success',
    total_events: given.length,
    successful_events: events.length,
    failed_events: errors.length,
    errors,
  })
})

async function sortEvents(ctx: Ctx, given: EventBody[]) {
  const errors: BatchError[] = []
  const read: { i: number; event: GivenEvent }[] = []
  const made: { i: number; event: NewEvent }[] = []
  for (const [i, body] of given.entries())
    await noting(errors, i, async () => void read.push({ i, event: readEvent(body, ctx.now) }))
  // Two batches of the same people in another order would wait for each other.
  const refs = read.flatMap(({ event }) => event.refs)
  const known = await lockContacts(ctx.db, ctx.caller.accountId, refs)
  for (const { i, event } of byPerson(read, ({ event }) => event.refs, known))
    await noting(errors, i, async () => void made.push({ i, event: await resolveEvent(ctx, event) }))
  const ids = made.map(({ event }) => event.id).sort()
  const inOrder = made.sort((one, other) => one.i - other.i)
  return {
    // As they were given, which is how they are listed.
    events: inOrder.map(({ event }, n) => ({ ...event, id: ids[n] ?? event.id })),
    errors: errors.sort((one, other) => indexOf(one) - indexOf(other)),
  }
}

const indexOf = ({ eventIndex: [index = 0] }: BatchError) => index

async function noting(errors: BatchError[], i: number, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    errors.push({ eventIndex: [i], message: error.message })
  }
}

function refuseAll(events: NewEvent[], errors: BatchError[]): void {
  const [first] = errors
  if (events.length > 0 || !first) return
  throw invalidParameter({ message: `events[0]: ${first.message}`, param: 'events', metadata: { errors } })
}

const Names = Type.Optional(
  Type.Array(Type.String({ maxLength: 4000 }), {
    maxItems: 100,
    description: 'One by one or separated by commas',
  }),
)

export const listEventsV3 = operation({
  ...read,
  name: 'event.list',
  http: 'GET /v3/events',
  summary: 'List custom events, newest first; those of the last six months unless dates are given',
  query: closed({
    contact_id: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), { maxItems: 100 }),
    ),
    event_name: Names,
    object_type: Names,
    ...rangeQuery,
    ...listQuery,
  }),
  reply: closed({
    count: Type.Integer(),
    events: Type.Array(
      closed({
        contact_id: Type.Integer(),
        event_name: Type.String(),
        event_date: Time,
        event_properties: Type.Object({}),
        contact_properties: Type.Object({}),
        object_type: Type.Optional(Type.String()),
      }),
    ),
    next_cursor: orNull(Type.String()),
  }),
  refusals: [outOfRange],
}).run((ctx, { query }) => pageOfEvents(ctx, query))

const { limit, offset, cursor } = listQuery

export const listEventNamesV3 = operation({
  ...read,
  name: 'event.names',
  http: 'GET /v3/events/names',
  summary: 'List the names of the custom events that came, by name',
  query: closed({ limit, offset, cursor }),
  reply: closed({
    count: Type.Integer(),
    names: Type.Array(Type.String()),
    next_cursor: orNull(Type.String()),
  }),
  refusals: [outOfRange],
}).run(async (ctx, { query }) => {
  const { accountId } = ctx.caller
  const list = { name: 'v3.events.names', filter: {}, ...ownLimits }
  const { rows, nextCursor } = await pageBySlice(ctx, { ...query, sort: 'asc' }, list, (slice) =>
    listEventNames(ctx.db, accountId, slice),
  )
  const { count } = await countEventNames(ctx.db, accountId)
  return { count, names: rows.map(({ id }) => id), next_cursor: nextCursor }
})

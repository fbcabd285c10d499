import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { operation } from '../../../kernel/operation.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { closed, orNull, Time, words } from '../../../kernel/schema.ts'
import { countedPage, listQuery, ownLimits, pageBySlice } from '../../../kernel/v3/paging.ts'
import { outOfRange } from '../../../kernel/v3/refusals.ts'
import { listContacts } from '../contacts/queries.ts'
import { Contact, showContacts } from '../contacts/show-contact.ts'
import { operators } from './condition-queries.ts'
import { countSegment } from './count-segment.ts'
import { countSegments, listSegments, type SegmentRow } from './queries.ts'
import {
  changeSegment,
  conditionOf,
  createSegment,
  membersOf,
  readSegment,
  removeSegment,
  SegmentBody,
} from './write-segment.ts'

const Segment = closed({
  id: Type.Integer(),
  segmentName: Type.String(),
  categoryName: Type.String(),
  attribute: Type.String(),
  operator: words(operators),
  value: Type.Unknown({ description: 'In the form in which contacts have it; a list for in' }),
  updatedAt: Time,
})

function show(found: SegmentRow): Static<typeof Segment> {
  return {
    id: Number(found.id),
    segmentName: found.name,
    categoryName: found.category_name,
    ...conditionOf(found),
    updatedAt: found.updated_at.toISOString(),
  }
}

const read = { area: 'Segments', scope: 'contacts.read', effect: 'read' } as const
const write = { area: 'Segments', scope: 'contacts.write', effect: 'change' } as const
// What no identifier can be reaches no statement.
const params = closed({ id: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) })
const Query = closed(listQuery)

const segmentPage = closed({
  count: Type.Integer(),
  segments: Type.Array(Segment),
  next_cursor: orNull(Type.String()),
})

async function pageOfSegments(
  ctx: Ctx,
  query: Static<typeof Query>,
  limits: { usual: number; most: number; least?: 1 },
): Promise<Static<typeof segmentPage>> {
  const { accountId } = ctx.caller
  const list = { name: 'v3.segments', filter: {}, ...limits }
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
    listSegments(ctx.db, accountId, slice),
  )
  const { count } = await countSegments(ctx.db, accountId)
  return { count, segments: rows.map(show), next_cursor: nextCursor }
}

export const listSegmentsV3 = operation({
  ...read,
  name: 'segment.list',
  http: 'GET /v3/segments',
  summary: 'List segments, newest first',
  query: Query,
  reply: segmentPage,
  refusals: [outOfRange],
}).run((ctx, { query }) => pageOfSegments(ctx, query, ownLimits))

export const listContactSegmentsV3 = operation({
  ...read,
  name: 'contact.segments',
  http: 'GET /v3/contacts/segments',
  summary: 'List segments, newest first, where the provider has them',
  query: Query,
  reply: segmentPage,
  refusals: [outOfRange],
}).run((ctx, { query }) => pageOfSegments(ctx, query, { usual: 10, most: 50 }))

export const createSegmentV3 = operation({
  ...write,
  name: 'segment.create',
  http: 'POST /v3/segments',
  needs: ['name', 'attribute', 'operator'],
  summary: 'Create a segment: contacts by the value of an attribute',
  description:
    'Its contacts are found at each call. Contacts without the attribute are in those of neq and is_not_set only. ' +
    'eq, neq and in compare exactly, contains regardless of case; of a choice of several, contains asks for all ' +
    'the options given, in for one of them.',
  body: SegmentBody,
  status: 201,
  reply: closed({ id: Type.Integer() }),
}).run(async (ctx, { body }) => ({ id: await createSegment(ctx, body) }))

export const getSegmentV3 = operation({
  ...read,
  name: 'segment.get',
  http: 'GET /v3/segments/{id}',
  summary: 'Read a segment',
  params,
  reply: Segment,
  refusals: [notFound],
}).run(async (ctx, { params: { id } }) => show(await readSegment(ctx, id)))

export const updateSegmentV3 = operation({
  ...write,
  name: 'segment.update',
  http: 'PUT /v3/segments/{id}',
  summary: 'Change a segment',
  params,
  body: SegmentBody,
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async (ctx, { params: { id }, body }) => {
  await changeSegment(ctx, id, body)
  return null
})

export const deleteSegmentV3 = operation({
  ...write,
  name: 'segment.delete',
  http: 'DELETE /v3/segments/{id}',
  summary: 'Delete a segment; its contacts stay',
  effect: 'irreversible',
  params,
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async (ctx, { params: { id } }) => {
  await removeSegment(ctx, id)
  return null
})

export const listSegmentContactsV3 = operation({
  ...read,
  name: 'segment.contacts',
  http: 'GET /v3/segments/{id}/contacts',
  summary: 'List the contacts of a segment, found now, newest first',
  params,
  query: Query,
  reply: closed({ contacts: Type.Array(Contact), count: Type.Integer(), next_cursor: orNull(Type.String()) }),
  refusals: [notFound, outOfRange],
}).run(async (ctx, { params: { id }, query }) => {
  const { accountId } = ctx.caller
  const filter = { segment: membersOf(await readSegment(ctx, id)) }
  const list = { name: 'v3.segment.contacts', filter: { id, ...filter }, ...ownLimits }
  const { rows, nextCursor, count } = await countedPage(ctx, query, list, {
    fetch: (slice) => listContacts(ctx.db, accountId, filter, slice),
    count: () => countSegment(ctx.db, accountId, filter.segment),
  })
  return { contacts: await showContacts(ctx, rows), count, next_cursor: nextCursor }
})

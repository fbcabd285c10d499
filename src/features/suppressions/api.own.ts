import { Type } from 'typebox'
import { refusalsOf } from '../../kernel/collect.ts'
import { showId } from '../../kernel/id.ts'
import { answer, operation } from '../../kernel/operation.ts'
import { notFound } from '../../kernel/refusals.ts'
import { closed, DateOrTime, orNull, pageOf, pageQuery, Time, Warning, words } from '../../kernel/schema.ts'
import type { SuppressionRow } from './queries.ts'
import { stillStanding } from './still-standing.ts'
import {
  erasedStays,
  pageOfSuppressions,
  readParam,
  reasons,
  suppressByHand,
  unsuppress,
} from './suppressions.ts'

const Suppression = closed({
  email: orNull(Type.String({ description: 'null: of a person who was erased' })),
  erased: Type.Optional(Type.Boolean()),
  reason: words(reasons),
  created_at: Time,
  source: Type.String(),
  message_id: orNull(Type.String()),
})

/** What is kept of an erased address can be recognised, not read. */
const isErased = ({ email }: SuppressionRow) => email.startsWith('erased:')

const show = (row: SuppressionRow) => ({
  ...(isErased(row) ? { email: null, erased: true } : { email: row.email }),
  reason: row.reason as (typeof reasons)[number],
  created_at: row.created_at.toISOString(),
  source: row.source,
  message_id: row.message_id === null ? null : showId('msg', row.message_id),
})

export const listSuppressionsOwn = operation({
  name: 'suppression.list',
  http: 'GET /api/v1/suppressions',
  area: 'Messages',
  summary: 'List suppressed addresses, newest first',
  scope: 'contacts.read',
  effect: 'read',
  query: closed({
    reason: Type.Optional(words(reasons)),
    since: Type.Optional(DateOrTime),
    email: Type.Optional(
      Type.String({ minLength: 1, maxLength: 320, description: 'Exact address, in any case' }),
    ),
    ...pageQuery,
  }),
  reply: pageOf(Suppression),
}).run(async (ctx, { query }) => {
  const { rows, nextCursor } = await pageOfSuppressions(ctx, query)
  return { data: rows.map(show), next_cursor: nextCursor }
})

export const createSuppression = operation({
  name: 'suppression.create',
  http: 'POST /api/v1/suppressions',
  area: 'Messages',
  summary: 'Suppress an address by hand',
  description: '200 when it was suppressed before; the entry stays as it was.',
  scope: 'contacts.write',
  effect: 'change',
  body: closed({
    email: Type.String({ maxLength: 320 }),
    reason: Type.Optional(words(['manual'])),
  }),
  findFaults: (_ctx, { email = '' }) => refusalsOf(() => readParam(email)),
  status: [201, 200],
  reply: Suppression,
}).run(async (ctx, { body }) => {
  const { isNew, found } = await suppressByHand(ctx, body.email)
  return answer(isNew ? 201 : 200, show(found))
})

export const deleteSuppressionOwn = operation({
  name: 'suppression.delete',
  http: 'DELETE /api/v1/suppressions/{email}',
  area: 'Messages',
  summary: 'Take an address off the suppression list',
  description:
    'A contact who unsubscribed stays so, which a warning tells: campaigns and automations do not write to it. ' +
    'POST /v3/contacts/{identifier}/resubscribe does both. Warnings tell of a blocked domain or sender, too.',
  scope: 'contacts.write',
  effect: 'change',
  params: closed({ email: Type.String({ maxLength: 320 }) }),
  reply: closed({ email: Type.String(), deleted: Type.Boolean(), warnings: Type.Array(Warning) }),
  refusals: [notFound, erasedStays],
}).run(async (ctx, { params }) => {
  const email = await unsuppress(ctx, params.email)
  return answer(200, { email, deleted: true, warnings: await stillStanding(ctx, email) })
})

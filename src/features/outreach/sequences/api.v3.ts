import { type Static, Type } from 'typebox'
import { operation } from '../../../kernel/operation.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { closed, orNull, Time, words } from '../../../kernel/schema.ts'
import { listQuery, ownLimits, pageBySlice } from '../../../kernel/v3/paging.ts'
import { outOfRange } from '../../../kernel/v3/refusals.ts'
import { templateInvalid } from '../../messages/refusals.ts'
import { moduleDisabled, idParams as params, reading, requireModule, sending } from '../module.ts'
import { countSequences, listSequences, type SequenceRow } from './queries.ts'
import { SequenceBody } from './read-sequence.ts'
import { statuses } from './sequence.ts'
import { changeSequence, createSequence, oneSequence, removeSequence } from './write-sequence.ts'

const Step = closed({
  delayDays: Type.Integer(),
  subject: Type.String(),
  text: Type.String(),
  html: Type.Optional(Type.String()),
  sameThread: Type.Boolean(),
})

const Sequence = closed({
  id: Type.Integer(),
  name: Type.String(),
  status: words(statuses),
  pausedReason: orNull(Type.String({ description: 'manual or mailbox_deleted' })),
  mailboxIds: Type.Array(Type.Integer()),
  steps: Type.Array(Step),
  schedule: closed({
    timezone: Type.String(),
    days: Type.Array(Type.Integer()),
    from: Type.String(),
    to: Type.String(),
  }),
  dailyLimit: orNull(Type.Integer()),
  stopOnReply: Type.Boolean(),
  createdAt: Time,
  modifiedAt: Time,
})

function show(found: SequenceRow): Static<typeof Sequence> {
  return {
    id: Number(found.id),
    name: found.name,
    status: found.status,
    pausedReason: found.paused_reason,
    mailboxIds: found.mailbox_ids.map(Number),
    steps: found.steps,
    schedule: found.schedule,
    dailyLimit: found.daily_limit,
    stopOnReply: found.stop_on_reply,
    createdAt: found.created_at.toISOString(),
    modifiedAt: found.modified_at.toISOString(),
  }
}

const maxBodyBytes = 5 * 1024 * 1024

export const listSequencesV3 = operation({
  ...reading,
  name: 'sequence.list',
  http: 'GET /v3/outreach/campaigns',
  summary: 'List outreach sequences, newest first',
  query: closed({ status: Type.Optional(words(statuses)), ...listQuery }),
  reply: closed({
    count: Type.Integer(),
    campaigns: Type.Array(Sequence),
    next_cursor: orNull(Type.String()),
  }),
  refusals: [moduleDisabled, outOfRange],
}).run(async (ctx, { query }) => {
  await requireModule(ctx)
  const filter = { status: query.status }
  const list = { name: 'v3.sequences', filter, ...ownLimits }
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
    listSequences(ctx.db, ctx.caller.accountId, filter, slice),
  )
  const { count } = await countSequences(ctx.db, ctx.caller.accountId, filter)
  return { count, campaigns: rows.map(show), next_cursor: nextCursor }
})

export const createSequenceV3 = operation({
  ...sending,
  name: 'sequence.create',
  http: 'POST /v3/outreach/campaigns',
  needs: ['name', 'mailboxIds', 'steps'],
  summary: 'Create an outreach sequence, as a draft',
  description:
    'Templates see firstName, lastName, company, email, source, the attributes of the prospect by their names, ' +
    'sender.name and unsubscribe_url. Every message ends with the legal identity and a link to unsubscribe.',
  body: SequenceBody,
  maxBodyBytes,
  secret: ['steps'],
  status: 201,
  reply: closed({ id: Type.Integer() }),
  refusals: [moduleDisabled, templateInvalid],
}).run(async (ctx, { body }) => {
  await requireModule(ctx)
  return { id: await createSequence(ctx, body) }
})

export const getSequenceV3 = operation({
  ...reading,
  name: 'sequence.get',
  http: 'GET /v3/outreach/campaigns/{id}',
  summary: 'Read an outreach sequence',
  params,
  reply: Sequence,
  refusals: [moduleDisabled, notFound],
}).run(async (ctx, { params: { id } }) => {
  await requireModule(ctx)
  return show(await oneSequence(ctx, id))
})

export const updateSequenceV3 = operation({
  ...sending,
  name: 'sequence.update',
  http: 'PUT /v3/outreach/campaigns/{id}',
  summary: 'Change an outreach sequence',
  description: 'Steps, schedule and mailboxes of one that runs cannot be changed: pause it first.',
  params,
  body: SequenceBody,
  maxBodyBytes,
  secret: ['steps'],
  status: 204,
  reply: Type.Null(),
  refusals: [moduleDisabled, notFound, templateInvalid],
}).run(async (ctx, { params: { id }, body }) => {
  await requireModule(ctx)
  await changeSequence(ctx, id, body)
  return null
})

export const deleteSequenceV3 = operation({
  ...sending,
  name: 'sequence.delete',
  http: 'DELETE /v3/outreach/campaigns/{id}',
  summary: 'Delete an outreach sequence that does not run',
  effect: 'irreversible',
  params,
  status: 204,
  reply: Type.Null(),
  refusals: [moduleDisabled, notFound],
}).run(async (ctx, { params: { id } }) => {
  await requireModule(ctx)
  await removeSequence(ctx, id)
  return null
})

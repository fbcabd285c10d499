import { Type } from 'typebox'
import { operation } from '../../../kernel/operation.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { closed, orNull, Time, words } from '../../../kernel/schema.ts'
import { rangeQuery } from '../../../kernel/v3/dates.ts'
import { listQuery } from '../../../kernel/v3/paging.ts'
import { outOfRange } from '../../../kernel/v3/refusals.ts'
import { cancelEmail, pageOfEmails, readEmail, readScheduled } from './emails.ts'
import { scheduledStates } from './event-words.ts'

const Text = Type.String()
const identifier = Type.String({ maxLength: 1000, description: 'messageId or batchId' })

export const cancelTransacEmail = operation({
  name: 'email.cancel',
  http: 'DELETE /v3/smtp/email/{identifier}',
  area: 'Transactional',
  summary: 'Cancel scheduled emails',
  description: 'By messageId or batchId. What is already being sent is not called back.',
  scope: 'email.send',
  effect: 'irreversible',
  params: closed({ identifier }),
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async (ctx, { params }) => {
  await cancelEmail(ctx, params.identifier)
  return null
})

const scheduledState = {
  createdAt: Type.Optional(Time),
  scheduledAt: Type.Optional(Time),
  status: Type.Optional(words(scheduledStates)),
}

export const getScheduledEmail = operation({
  name: 'email.scheduled',
  http: 'GET /v3/smtp/emailStatus/{identifier}',
  area: 'Transactional',
  summary: 'Read what became of scheduled emails',
  scope: 'email.read_status',
  effect: 'read',
  params: closed({ identifier }),
  query: closed({
    ...rangeQuery,
    ...listQuery,
    status: Type.Optional(words(scheduledStates, { description: 'Of a batch: those in this state' })),
  }),
  reply: closed({
    ...scheduledState,
    count: Type.Optional(Type.Integer()),
    batches: Type.Optional(Type.Array(closed(scheduledState))),
    next_cursor: Type.Optional(orNull(Text)),
  }),
  refusals: [notFound, outOfRange],
}).run((ctx, { params, query }) => readScheduled(ctx, params.identifier, query))

export const listTransacEmails = operation({
  name: 'email.log',
  http: 'GET /v3/smtp/emails',
  area: 'Transactional',
  summary: 'List sent emails of an address, a template or a message id',
  scope: 'email.read_status',
  effect: 'read',
  query: closed({
    email: Type.Optional(Type.String({ maxLength: 320 })),
    templateId: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    messageId: Type.Optional(Type.String({ maxLength: 1000 })),
    ...rangeQuery,
    ...listQuery,
  }),
  reply: closed({
    count: Type.Integer(),
    transactionalEmails: Type.Array(
      closed({
        email: Text,
        subject: Text,
        messageId: Text,
        uuid: Text,
        date: Time,
        templateId: Type.Optional(Type.Integer()),
        from: Text,
        tags: Type.Array(Text),
      }),
    ),
    next_cursor: orNull(Text),
  }),
  refusals: [outOfRange],
}).run(async (ctx, { query }) => {
  const { count, rows, nextCursor } = await pageOfEmails(ctx, query)
  const transactionalEmails = rows.map((row) => ({
    email: row.recipient,
    subject: row.subject,
    messageId: row.message_id,
    uuid: row.id,
    date: row.created_at.toISOString(),
    templateId: row.template_id === null ? undefined : Number(row.template_id),
    from: row.sender,
    tags: row.tags ?? [],
  }))
  return { count, transactionalEmails, next_cursor: nextCursor }
})

export const getTransacEmail = operation({
  name: 'email.get',
  http: 'GET /v3/smtp/emails/{uuid}',
  area: 'Transactional',
  summary: 'Read a sent email and its events',
  scope: 'email.read_status',
  effect: 'read',
  params: closed({ uuid: Type.String({ maxLength: 100 }) }),
  reply: closed({
    email: Text,
    subject: Text,
    date: Time,
    templateId: Type.Optional(Type.Integer()),
    body: Text,
    attachmentCount: Type.Integer(),
    events: Type.Array(closed({ name: Text, time: Time })),
  }),
  refusals: [notFound],
}).run(async (ctx, { params }) => {
  const { email, events } = await readEmail(ctx, params.uuid)
  return {
    email: email.recipient,
    subject: email.subject,
    date: email.created_at.toISOString(),
    templateId: email.template_id === null ? undefined : Number(email.template_id),
    body: email.body,
    attachmentCount: email.attachments,
    events,
  }
})

import { Type } from 'typebox'
import { operation } from '../../kernel/operation.ts'
import { notFound } from '../../kernel/refusals.ts'
import { closed, orNull, pageOf, pageQuery, Time, words } from '../../kernel/schema.ts'
import { shownEvents, sources, statuses } from './model.ts'
import { type OtherMessages, pageOfMessages, readMessage } from './read-messages.ts'

const fields = {
  id: Type.String(),
  status: words(statuses),
  from: Type.String(),
  to: Type.String(),
  subject: Type.String(),
  tag: orNull(Type.String()),
  metadata: Type.Record(Type.String(), Type.String()),
  source: words(sources),
  campaign_id: orNull(Type.Integer()),
  template_id: orNull(Type.Integer()),
  message_id: Type.String({ description: 'The Message-ID header' }),
  created_at: Time,
  scheduled_at: orNull(Time),
  sent_at: orNull(Time),
  delivered_at: orNull(Time),
  attempts: Type.Integer(),
  last_error: orNull(
    closed({
      code: Type.String(),
      smtp_code: orNull(Type.Integer()),
      enhanced_code: orNull(Type.String()),
      message: Type.String(),
    }),
  ),
  held_reason: orNull(Type.String({ description: 'Why it waits, and what releases it' })),
}

const Event = Type.Object(
  { id: Type.String(), type: words(shownEvents), at: Time },
  {
    description: 'With what is known of it: bounce type and codes, address, user agent, classification, link',
  },
)

export const getMessage = (others: OtherMessages) =>
  operation({
    name: 'message.get',
    http: 'GET /api/v1/messages/{id}',
    area: 'Messages',
    summary: 'Read a message with its events',
    scope: 'email.read_status',
    effect: 'read',
    params: closed({ id: Type.String({ maxLength: 100 }) }),
    reply: closed({ ...fields, events: Type.Array(Event) }),
    refusals: [notFound],
  }).run((ctx, { params }) => readMessage(others, ctx, params.id))

export const listMessagesOwn = (others: OtherMessages) =>
  operation({
    name: 'message.list',
    http: 'GET /api/v1/messages',
    area: 'Messages',
    summary: 'List messages, newest first',
    scope: 'email.read_status',
    effect: 'read',
    query: closed({
      status: Type.Optional(words(statuses)),
      tag: Type.Optional(Type.String({ maxLength: 64 })),
      to: Type.Optional(Type.String({ maxLength: 320, description: 'Exact address, in any case' })),
      ...pageQuery,
    }),
    reply: pageOf(closed(fields)),
  }).run((ctx, { query }) => pageOfMessages(others, ctx, query))

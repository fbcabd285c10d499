import { Type } from 'typebox'
import { operation } from '../../kernel/operation.ts'
import { notFound } from '../../kernel/refusals.ts'
import { closed, orNull, pageOf, pageQuery, Time } from '../../kernel/schema.ts'
import { pageOfCaptured, readCapturedRaw } from './read-sandbox.ts'

const Captured = closed({
  id: Type.String(),
  message_id: Type.String(),
  from: Type.String(),
  to: Type.String(),
  subject: Type.String(),
  html: orNull(Type.String()),
  text: orNull(Type.String()),
  headers: Type.Array(closed({ name: Type.String(), value: Type.String() })),
  received_at: Time,
})

export const listSandbox = operation({
  name: 'sandbox.list',
  http: 'GET /api/v1/sandbox/messages',
  area: 'Messages',
  summary: 'List what the capture transport took, newest first',
  description:
    'A message that cannot be read in time is shown by its header, with html and text null; the raw form is whole.',
  scope: 'email.read_status',
  effect: 'read',
  query: closed({ to: Type.Optional(Type.String({ maxLength: 320 })), ...pageQuery }),
  reply: pageOf(Captured),
}).run((ctx, { query }) => pageOfCaptured(ctx, query))

export const getSandboxRaw = operation({
  name: 'sandbox.raw',
  http: 'GET /api/v1/sandbox/messages/{id}/raw',
  area: 'Messages',
  summary: 'Read a captured message as it would have gone over the wire',
  scope: 'email.read_status',
  effect: 'read',
  params: closed({ id: Type.String({ maxLength: 100 }) }),
  replyType: 'message/rfc822',
  reply: Type.String(),
  refusals: [notFound],
}).run(async (ctx, { params }) => (await readCapturedRaw(ctx, params.id)).toString('latin1'))

import { type Static, Type } from 'typebox'
import type { Ctx } from '../../kernel/ctx.ts'
import { newUuid, readId } from '../../kernel/id.ts'
import { operation } from '../../kernel/operation.ts'
import { invalidParameter, notFound } from '../../kernel/refusals.ts'
import { closed, orNull, Time, words } from '../../kernel/schema.ts'
import { given } from '../../kernel/v3/lenient.ts'
import { listQuery, ownLimits, pageBySlice } from '../../kernel/v3/paging.ts'
import { outOfRange } from '../../kernel/v3/refusals.ts'
import { readSettings } from '../accounts/settings/settings.ts'
import { Id, read, write } from './api.v3.ts'
import {
  countDeliveries,
  type DeliveryRow,
  insertDelivery,
  listDeliveries,
  replayDelivery,
  statuses,
} from './delivery-queries.ts'
import { payloadWordOf } from './events.ts'
import { deliveryId } from './payload.ts'
import { liftPause, type WebhookRow } from './queries.ts'
import { sampleOf } from './sample.ts'
import { readWebhook } from './write-webhook.ts'

const params = closed({ id: Id })
const mostCounted = 10_000

const Delivery = closed({
  id: Type.String({ description: 'The header webhook-id of its call, unless it went with others' }),
  event: Type.String(),
  status: words(statuses),
  email: orNull(Type.String()),
  messageId: orNull(Type.String()),
  attempts: Type.Integer(),
  createdAt: Time,
  attemptedAt: orNull(Time),
  nextAttemptAt: orNull(Time),
  statusCode: orNull(Type.Integer({ description: 'Of the last answer' })),
  response: orNull(Type.String({ description: 'The beginning of the last answer, when it was not 2xx' })),
  error: orNull(Type.String()),
})

function show(found: DeliveryRow): Static<typeof Delivery> {
  return {
    id: deliveryId(found.id),
    event: found.event,
    status: found.status,
    email: found.email,
    messageId: found.rfc_id,
    attempts: found.attempts,
    createdAt: found.created_at.toISOString(),
    attemptedAt: found.attempted_at?.toISOString() ?? null,
    nextAttemptAt: found.due_at?.toISOString() ?? null,
    statusCode: found.status_code,
    response: found.answer,
    error: found.error,
  }
}

export const listDeliveriesV3 = operation({
  ...read,
  name: 'webhook.deliveries',
  http: 'GET /v3/webhooks/{id}/deliveries',
  summary: 'List what a webhook was told, newest first',
  description: `Kept for 30 days. count goes up to ${mostCounted}.`,
  params,
  query: closed({ ...listQuery, status: Type.Optional(words(statuses)) }),
  reply: closed({
    count: Type.Integer(),
    deliveries: Type.Array(Delivery),
    next_cursor: orNull(Type.String()),
  }),
  refusals: [notFound, outOfRange],
}).run(async (ctx, { params: { id }, query }) => {
  const webhook = await readWebhook(ctx, id)
  const ref = { accountId: ctx.caller.accountId, webhookId: webhook.id }
  const wanted = { status: query.status }
  const list = { name: 'v3.webhook.deliveries', filter: { id, ...wanted }, ...ownLimits }
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
    listDeliveries(ctx.db, ref, wanted, slice),
  )
  const { count } = await countDeliveries(ctx.db, ref, wanted, mostCounted)
  return { count: Math.min(count, mostCounted), deliveries: rows.map(show), next_cursor: nextCursor }
})

const Accepted = closed({ id: Type.String({ description: 'Of the delivery' }) })

export const replayDeliveryV3 = operation({
  ...write,
  name: 'webhook.replay',
  http: 'POST /v3/webhooks/{id}/deliveries/{deliveryId}/replay',
  summary: 'Send a delivery again, now',
  description: 'The receiver knows it by the same webhook-id.',
  params: closed({ id: Id, deliveryId: Type.String({ maxLength: 64 }) }),
  status: 202,
  reply: Accepted,
  refusals: [notFound],
}).run(async (ctx, { params: { id, deliveryId: shown } }) => {
  const webhook = await readEnabled(ctx, id)
  const uuid = readId('whd', shown)
  const ref = { accountId: ctx.caller.accountId, webhookId: webhook.id }
  // The webhook before what waits for it, as everywhere: two that take them otherwise wait for each other.
  await liftPause(ctx.db, { accountId: ref.accountId, id: webhook.id }, ctx.now)
  const again = uuid && (await replayDelivery(ctx.db, { ...ref, id: uuid, ...soon(ctx, webhook) }))
  if (!again) throw notFound({ message: 'Delivery does not exist', param: 'deliveryId' })
  return { id: shown }
})

export const testWebhookV3 = operation({
  ...write,
  name: 'webhook.test',
  http: 'POST /v3/webhooks/{id}/test',
  summary: 'Send an invented event to a webhook, now',
  description: 'What came of it is told by its deliveries.',
  params,
  body: closed({
    event: Type.Optional(
      Type.String({ maxLength: 100, description: 'One that it asks for; the first when absent' }),
    ),
  }),
  status: 202,
  reply: Accepted,
  refusals: [notFound],
}).run(async (ctx, { params: { id }, body }) => {
  const webhook = await readEnabled(ctx, id)
  const asked = given(body?.event) ?? webhook.events[0] ?? ''
  const event = payloadWordOf(webhook.type, asked)
  if (event === undefined || !webhook.events.includes(asked))
    throw invalidParameter({ message: `event must be one of ${webhook.events.join(', ')}`, param: 'event' })
  const { timezone } = await readSettings(ctx)
  const deliveryUuid = newUuid()
  const ref = { accountId: ctx.caller.accountId, webhookId: webhook.id, id: deliveryUuid }
  const sample = sampleOf({ ...ref, type: webhook.type, event, timezone, at: ctx.now })
  await liftPause(ctx.db, { accountId: ref.accountId, id: webhook.id }, ctx.now)
  await insertDelivery(ctx.db, { ...ref, event, ...sample, ...soon(ctx, webhook) })
  return { id: deliveryId(deliveryUuid) }
})

/** One that takes events together gets this one alone, without waiting for others. */
function soon(ctx: Ctx, { batched }: WebhookRow) {
  return { at: ctx.now, batchId: batched ? newUuid() : null }
}

async function readEnabled(ctx: Ctx, id: number): Promise<WebhookRow> {
  const webhook = await readWebhook(ctx, id)
  if (webhook.disabled_at === null) return webhook
  throw invalidParameter({ message: 'The webhook is switched off: change it first', param: 'id' })
}

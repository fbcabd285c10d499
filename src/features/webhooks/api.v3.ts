import { Type } from 'typebox'
import { operation } from '../../kernel/operation.ts'
import { notFound, secretUnopened } from '../../kernel/refusals.ts'
import { closed, Time, words } from '../../kernel/schema.ts'
import { refuseUnopened } from '../../kernel/seal.ts'
import { words as eventWords, types } from './events.ts'
import { listWebhooks } from './queries.ts'
import { ChangeBody, CreateBody, readType, secretFields } from './read-body.ts'
import { openSecrets } from './secrets.ts'
import { showWebhook, Webhook } from './show-webhook.ts'
import {
  changeWebhook,
  createWebhook,
  mostWebhooks,
  readWebhook,
  refuseTarget,
  removeWebhook,
  replaceSecret,
  tooManyWebhooks,
  type WebhookNeeds,
} from './write-webhook.ts'

export const read = { area: 'Webhooks', scope: 'analytics.read', effect: 'read' } as const
export const write = { area: 'Webhooks', scope: 'settings.write', effect: 'change' } as const
// What no identifier can be reaches no statement.
export const Id = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const params = closed({ id: Id })

const known = Object.entries(eventWords)
  .map(([type, ofType]) => `${type}: ${Object.keys(ofType).join(', ')}`)
  .join('. ')

export const listWebhooksV3 = ({ secretKeys }: WebhookNeeds) =>
  operation({
    ...read,
    name: 'webhook.list',
    http: 'GET /v3/webhooks',
    summary: 'List the webhooks of a type',
    query: closed({
      type: Type.Optional(Type.String({ description: `${types.join(' or ')}; transactional when absent` })),
      sort: Type.Optional(words(['asc', 'desc'], { description: 'By creation; desc when absent' })),
    }),
    reply: closed({ webhooks: Type.Array(Webhook) }),
    refusals: [secretUnopened],
  }).run(async (ctx, { query }) => {
    if (query.type === 'inbound') return { webhooks: [] }
    const rows = await listWebhooks(ctx.db, ctx.caller.accountId, readType({ type: query.type }))
    if (query.sort === 'asc') rows.reverse()
    return { webhooks: await Promise.all(rows.map((one) => showWebhook(secretKeys, ctx, one))) }
  })

export const createWebhookV3 = (needs: WebhookNeeds) =>
  operation({
    ...write,
    name: 'webhook.create',
    http: 'POST /v3/webhooks',
    needs: ['url', 'events'],
    summary: 'Be told of events by HTTP',
    description:
      `Events. ${known}. Each call is signed as Standard Webhooks prescribes (webhook-id, webhook-timestamp, ` +
      'webhook-signature) with the secret of the answer. Anything but 2xx is tried again for three days; calls may ' +
      `come twice or out of order: webhook-id tells. An account has at most ${mostWebhooks}.`,
    body: CreateBody,
    secret: secretFields,
    status: 201,
    reply: closed({ id: Type.Integer(), secret: Type.String({ description: 'Signs the calls' }) }),
    refusals: [tooManyWebhooks],
    prepare: async (_ctx, input) => {
      await refuseTarget(needs.checkTarget, input.body.url)
      return input
    },
  }).run((ctx, { body }) => createWebhook(needs, ctx, body))

export const getWebhookV3 = ({ secretKeys }: WebhookNeeds) =>
  operation({
    ...read,
    name: 'webhook.get',
    http: 'GET /v3/webhooks/{id}',
    summary: 'Read a webhook',
    params,
    reply: Webhook,
    refusals: [notFound, secretUnopened],
  }).run(async (ctx, { params: { id } }) => showWebhook(secretKeys, ctx, await readWebhook(ctx, id)))

export const updateWebhookV3 = (needs: WebhookNeeds) =>
  operation({
    ...write,
    name: 'webhook.update',
    http: 'PUT /v3/webhooks/{id}',
    summary: 'Change a webhook',
    description: 'What is not given stays. A webhook that was switched off is on again afterwards.',
    params,
    body: ChangeBody,
    secret: secretFields,
    status: 204,
    reply: Type.Null(),
    refusals: [notFound, secretUnopened],
    prepare: async (_ctx, input) => {
      await refuseTarget(needs.checkTarget, input.body.url)
      return input
    },
  }).run(async (ctx, { params: { id }, body }) => {
    await changeWebhook(needs, ctx, id, body)
    return null
  })

export const deleteWebhookV3 = operation({
  ...write,
  name: 'webhook.delete',
  http: 'DELETE /v3/webhooks/{id}',
  summary: 'Delete a webhook and what waits for it',
  effect: 'irreversible',
  params,
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async (ctx, { params: { id } }) => {
  await removeWebhook(ctx, id)
  return null
})

export const getWebhookSecretV3 = ({ secretKeys }: WebhookNeeds) =>
  operation({
    ...read,
    scope: 'settings.write',
    name: 'webhook.secret',
    http: 'GET /v3/webhooks/{id}/secret',
    summary: 'Read the secret that signs the calls of a webhook',
    params,
    reply: closed({ secret: Type.String() }),
    refusals: [notFound, secretUnopened],
  }).run(async (ctx, { params: { id } }) => {
    const { id: own, sealed } = await readWebhook(ctx, id)
    const owner = { accountId: ctx.caller.accountId, id: own }
    const { secret } = await openSecrets(secretKeys, owner, sealed).catch(refuseUnopened)
    return { secret }
  })

export const rotateWebhookSecretV3 = (needs: WebhookNeeds) =>
  operation({
    ...write,
    name: 'webhook.rotate_secret',
    http: 'POST /v3/webhooks/{id}/secret/rotate',
    summary: 'Replace the secret that signs the calls of a webhook',
    description:
      'For 24 hours the secret before it signs as well: webhook-signature then has several signatures, with spaces ' +
      'between, and a receiver takes a call that any of them fits. Calls under way may carry the old one alone.',
    params,
    reply: closed({
      secret: Type.String({ description: 'The new one' }),
      oldSecretUntil: Time,
    }),
    refusals: [notFound, secretUnopened],
  }).run((ctx, { params: { id } }) => replaceSecret(needs, ctx, id))

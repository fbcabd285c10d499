// A webhook is made, changed, taken away.
import type { Ctx } from '../../kernel/ctx.ts'
import { refusal } from '../../kernel/refusal.ts'
import { missingParameter, notFound } from '../../kernel/refusals.ts'
import { refuseUnopened } from '../../kernel/seal.ts'
import { type CallNeeds, type CheckTarget, refuseUncallable } from '../../kernel/v3/url.ts'
import { resolveNotice } from '../accounts/notices/notices.ts'
import { toldOf } from './events.ts'
import {
  countLocked,
  deleteWebhook,
  findWebhook,
  hurryQueued,
  insertWebhook,
  lockWebhook,
  takeId,
  updateSealed,
  updateWebhook,
  type WebhookRow,
} from './queries.ts'
import {
  type ChangeBody,
  type CreateBody,
  readAddress,
  readEvents,
  readHeaders,
  readToken,
  readType,
  requireAddress,
} from './read-body.ts'
import { newSecret, openSecrets, type SecretKeys, type Secrets, sealSecrets } from './secrets.ts'

export type WebhookNeeds = CallNeeds & { secretKeys: SecretKeys }

export const mostWebhooks = 40

export const tooManyWebhooks = refusal({
  code: 'invalid_parameter',
  kind: 'invalid',
  message: `An account has at most ${mostWebhooks} webhooks: delete one first.`,
})

const webhookUnknown = () => notFound({ message: 'Webhook ID does not exist', param: 'id' })

export async function refuseTarget(checkTarget: CheckTarget, text: string | undefined): Promise<void> {
  await refuseUncallable(checkTarget, readAddress(text)?.url ?? null, 'url')
}

export async function createWebhook(
  { secretKeys }: WebhookNeeds,
  ctx: Ctx,
  body: CreateBody,
): Promise<{ id: number; secret: string }> {
  const { accountId } = ctx.caller
  const type = readType(body)
  const { url, basic } = requireAddress(body.url)
  const events = readEvents(type, body.events)
  if (!events) throw missingParameter({ message: 'events is missing', param: 'events' })
  const { token } = readToken(body.auth) ?? {}
  const secrets: Secrets = { secret: newSecret(), token, basic, headers: readHeaders(body.headers) ?? [] }
  if ((await countLocked(ctx.db, accountId)) >= mostWebhooks) throw tooManyWebhooks()
  const { id } = await takeId(ctx.db)
  const sealed = await sealSecrets(secretKeys, { accountId, id }, secrets)
  const fields = {
    type,
    url,
    description: body.description ?? '',
    events,
    toldOf: toldOf(type, events),
    sealed,
  }
  await insertWebhook(ctx.db, { accountId, id }, { ...fields, batched: body.batched ?? false }, ctx.now)
  return { id: Number(id), secret: secrets.secret }
}

// As many as a request has the time for; the others follow by their schedule.
const mostHurried = 10_000

/** What is not given stays. */
export async function changeWebhook(
  { secretKeys }: WebhookNeeds,
  ctx: Ctx,
  id: number,
  body: ChangeBody,
): Promise<void> {
  const ref = { accountId: ctx.caller.accountId, id: String(id) }
  const found = await lockWebhook(ctx.db, ref)
  if (!found) throw webhookUnknown()
  const secrets = await openSecrets(secretKeys, ref, found.sealed).catch(refuseUnopened)
  const address = readAddress(body.url)
  const events = readEvents(found.type, body.events) ?? found.events
  const changed: Secrets = {
    ...secrets,
    ...(address && { basic: address.basic }),
    ...withToken(readToken(body.auth, secrets.token)),
    headers: readHeaders(body.headers, secrets.headers) ?? secrets.headers,
  }
  const fields = {
    type: found.type,
    url: address?.url ?? found.url,
    description: body.description ?? found.description,
    events,
    toldOf: toldOf(found.type, events),
    batched: body.batched ?? found.batched,
    sealed: await sealSecrets(secretKeys, ref, changed),
  }
  await updateWebhook(ctx.db, ref, fields, ctx.now)
  await hurryQueued(ctx.db, ref, { at: ctx.now, limit: mostHurried })
  await overWith(ctx, ref)
}

const withToken = (read: { token?: string } | undefined) => read && { token: read.token }

const signsOnMs = 24 * 3_600_000
const mostReplaced = 10

/** The one before signs on for a day, so that a receiver can take the new one over without missing a call. */
export async function replaceSecret(
  { secretKeys }: WebhookNeeds,
  ctx: Ctx,
  id: number,
): Promise<{ secret: string; oldSecretUntil: string }> {
  const ref = { accountId: ctx.caller.accountId, id: String(id) }
  const found = await lockWebhook(ctx.db, ref)
  if (!found) throw webhookUnknown()
  const secrets = await openSecrets(secretKeys, ref, found.sealed).catch(refuseUnopened)
  const until = new Date(ctx.now.getTime() + signsOnMs).toISOString()
  const before = (secrets.replaced ?? []).filter((one) => Date.parse(one.until) > ctx.now.getTime())
  const replaced = [{ secret: secrets.secret, until }, ...before].slice(0, mostReplaced)
  const secret = newSecret()
  const sealed = await sealSecrets(secretKeys, ref, { ...secrets, secret, replaced })
  await updateSealed(ctx.db, ref, sealed, ctx.now)
  return { secret, oldSecretUntil: until }
}

export async function removeWebhook(ctx: Ctx, id: number): Promise<void> {
  const ref = { accountId: ctx.caller.accountId, id: String(id) }
  if ((await deleteWebhook(ctx.db, ref)) === 0) throw webhookUnknown()
  await overWith(ctx, ref)
}

function overWith(ctx: Ctx, { accountId, id }: { accountId: string; id: string }): Promise<void> {
  return resolveNotice(ctx.db, { accountId, code: 'webhook_disabled', subject: id }, ctx.now)
}

export async function readWebhook(ctx: Ctx, id: number): Promise<WebhookRow> {
  const found = await findWebhook(ctx.db, { accountId: ctx.caller.accountId, id: String(id) })
  if (!found) throw webhookUnknown()
  return found
}

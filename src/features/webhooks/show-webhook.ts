import { type Static, Type } from 'typebox'
import type { Ctx } from '../../kernel/ctx.ts'
import { closed, Time, words } from '../../kernel/schema.ts'
import { holdsScope } from '../../kernel/scope.ts'
import { refuseUnopened } from '../../kernel/seal.ts'
import { types } from './events.ts'
import type { WebhookRow } from './queries.ts'
import { mask } from './read-body.ts'
import { openSecrets, type SecretKeys, type Secrets } from './secrets.ts'

const hidden = `${mask} for a key without settings.write`

export const Webhook = closed({
  id: Type.Integer(),
  url: Type.String(),
  description: Type.String(),
  events: Type.Array(Type.String()),
  type: words(types),
  channel: words(['email', 'sms']),
  batched: Type.Boolean(),
  auth: Type.Optional(closed({ type: words(['bearer']), token: Type.String({ description: hidden }) })),
  headers: Type.Optional(
    Type.Array(closed({ key: Type.String(), value: Type.String({ description: hidden }) })),
  ),
  createdAt: Time,
  modifiedAt: Time,
  status: words(['active', 'disabled'], { description: 'disabled: switched off; any change switches it on' }),
  disabledReason: Type.Optional(Type.String()),
  pausedUntil: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'The receiver asked to be left alone until then (Retry-After); a test or a replay does not wait',
    }),
  ),
})

export async function showWebhook(
  keys: SecretKeys,
  ctx: Ctx,
  found: WebhookRow,
): Promise<Static<typeof Webhook>> {
  const owner = { accountId: ctx.caller.accountId, id: found.id }
  const secrets = await openSecrets(keys, owner, found.sealed).catch(refuseUnopened)
  const shown = holdsScope(ctx.caller.scopes, 'settings.write') ? secrets : masked(secrets)
  const { token, basic, headers } = shown
  const isPaused = found.paused_until !== null && found.paused_until > ctx.now
  return {
    id: Number(found.id),
    url: basic === undefined ? found.url : withBasic(found.url, basic),
    description: found.description,
    events: found.events,
    type: found.type === 'sms' ? 'transactional' : found.type,
    channel: found.type === 'sms' ? 'sms' : 'email',
    batched: found.batched,
    ...(token !== undefined && { auth: { type: 'bearer' as const, token } }),
    ...(headers.length > 0 && { headers }),
    createdAt: found.created_at.toISOString(),
    modifiedAt: found.modified_at.toISOString(),
    status: found.disabled_at ? 'disabled' : 'active',
    ...(found.disabled_reason !== null && { disabledReason: found.disabled_reason }),
    ...(isPaused && { pausedUntil: found.paused_until?.toISOString() }),
  }
}

function masked({ secret, token, headers }: Secrets): Secrets {
  return {
    secret,
    ...(token !== undefined && { token: mask }),
    headers: headers.map(({ key }) => ({ key, value: mask })),
  }
}

/** As it was given. */
function withBasic(text: string, basic: string): string {
  const url = new URL(text)
  const [user = '', ...password] = basic.split(':')
  url.username = encodeURIComponent(user)
  url.password = encodeURIComponent(password.join(':'))
  return url.href
}

import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { line, webAddress } from '../../../kernel/patterns.ts'
import { closed, orNull, words } from '../../../kernel/schema.ts'
import { findSettings, mergeSettings } from './queries.ts'

const Sender = closed({
  email: Type.String({ format: 'email', maxLength: 254 }),
  name: Type.Optional(Type.String({ maxLength: 200, pattern: line })),
})

const described = (description: string) => ({ description })

/** Every setting, once: its type and, below, its default. Only what an account changed is stored. */
export const Settings = closed({
  exclude_privacy_proxy_opens: Type.Boolean(described('Statistics leave out opens by privacy proxies')),
  exclude_robot_activity: Type.Boolean(described('Statistics leave out opens and clicks by robots')),
  unsubscribe_url: orNull(
    Type.String({
      format: 'uri',
      pattern: webAddress,
      maxLength: 1000,
      description: 'Your own unsubscribe page',
    }),
  ),
  open_tracking: words(['on', 'consented_only', 'off'], described('Which messages get an open pixel')),
  click_tracking: Type.Boolean(described('Links lead through this service so that clicks are seen')),
  default_sender: orNull(Sender),
  require_verified_sender: Type.Boolean(
    described('Refuse senders that are neither on a verified domain nor validated under /v3/senders'),
  ),
  provider_compatibility: Type.Boolean(
    described('Under /v3, act as the compatible provider does where the two differ'),
  ),
  outreach_enabled: Type.Boolean(described('The account has the outreach module')),
  timezone: Type.String({
    format: 'time-zone',
    maxLength: 64,
    description: 'IANA name, such as Europe/Paris',
  }),
})

export type Settings = Static<typeof Settings>

export const defaults: Settings = {
  exclude_privacy_proxy_opens: true,
  exclude_robot_activity: true,
  unsubscribe_url: null,
  open_tracking: 'on',
  click_tracking: true,
  default_sender: null,
  require_verified_sender: false,
  provider_compatibility: false,
  outreach_enabled: false,
  timezone: 'Europe/Paris',
}

export function readSettings(ctx: Ctx): Promise<Settings> {
  return readSettingsOf(ctx.db, ctx.caller.accountId)
}

export async function readSettingsOf(db: Db, accountId: string): Promise<Settings> {
  const changed = await db.gathered(findSettings, accountId)
  return { ...defaults, ...changed }
}

export async function changeSettings(ctx: Ctx, change: Partial<Settings>): Promise<Settings> {
  const { settings } = await mergeSettings(ctx.db, ctx.caller.accountId, change)
  return { ...defaults, ...settings }
}

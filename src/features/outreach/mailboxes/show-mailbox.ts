import { type Static, Type } from 'typebox'
import { closed, orNull, Time, words } from '../../../kernel/schema.ts'
import type { ServerSettings } from './credentials.ts'
import { bounceRate, failsAfter, rates } from './health.ts'
import type { ListedMailbox } from './queries.ts'
import { limitOn } from './ramp.ts'

const Server = closed({
  host: Type.String(),
  port: Type.Integer(),
  secure: Type.Boolean(),
  user: Type.String(),
})

export const Mailbox = closed({
  id: Type.Integer(),
  email: Type.String(),
  name: Type.String(),
  smtp: Server,
  imap: Server,
  dailyLimit: Type.Integer(),
  limitToday: Type.Integer({ description: 'What a new mailbox may send today; it grows to dailyLimit' }),
  state: words(['active', 'paused']),
  pausedReason: orNull(Type.String({ description: 'manual, login, sender, bounces or complaints' })),
  health: closed({
    state: words(['ok', 'warning', 'failing']),
    sentToday: Type.Integer({ description: 'What left it, answers of people included; days are UTC' }),
    dailyLimit: Type.Integer(),
    bounceRate: Type.Number({ description: 'Of the last seven days, once there were 20 messages' }),
    complaints: Type.Integer({
      description: 'People who took its messages for abuse, in the last seven days',
    }),
    lastSyncAt: orNull(Time),
    lastError: orNull(Type.String()),
  }),
  createdAt: Time,
  modifiedAt: Time,
})

// Never what opens them, whatever else a row may come to hold.
const serverOf = ({ host, port, secure, user }: ServerSettings) => ({ host, port, secure, user })

export function showMailbox(found: ListedMailbox, now: Date): Static<typeof Mailbox> {
  return {
    id: Number(found.id),
    email: found.email,
    name: found.name,
    smtp: serverOf(found.smtp),
    imap: serverOf(found.imap),
    dailyLimit: found.daily_limit,
    limitToday: limitOn(found, now.getTime()),
    state: found.state,
    pausedReason: found.paused_reason,
    health: {
      state: stateOf(found),
      sentToday: found.sent_today,
      dailyLimit: found.daily_limit,
      bounceRate: Math.round(bounceRate(found) * 10_000) / 10_000,
      complaints: found.complained,
      lastSyncAt: found.last_sync_at?.toISOString() ?? null,
      lastError: found.smtp_error ?? found.imap_error,
    },
    createdAt: found.created_at.toISOString(),
    modifiedAt: found.modified_at.toISOString(),
  }
}

function stateOf(found: ListedMailbox): 'ok' | 'warning' | 'failing' {
  const isBroken = found.state === 'paused' && found.paused_reason !== 'manual'
  if (isBroken || found.smtp_failures >= failsAfter || found.imap_failures >= failsAfter) return 'failing'
  const isWell = found.state === 'active' && found.smtp_error === null && found.imap_error === null
  return isWell && found.complained === 0 && bounceRate(found) < rates.warns ? 'ok' : 'warning'
}

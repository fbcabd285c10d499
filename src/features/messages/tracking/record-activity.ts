// An open or a click arrives: found by its token, judged, kept. Every one that may be noted is kept; statistics choose
// later.
import type { Db } from '../../../kernel/db.ts'
import { mayNoteOpens } from '../../contacts/contacts/tracking-consent.ts'
import { findForEvent, type Known } from '../event-queries.ts'
import { recordEvent } from '../record-event.ts'
import { burst, classifyActivity } from './classify.ts'
import { countOtherLinks, findAllowed, holdMessage, markBurst } from './queries.ts'
import type { TrackingToken } from './tokens.ts'

export type Visit = {
  ip: string
  userAgent: string | undefined
  method: string
  headers: Record<string, string | undefined>
  at: Date
  /** The time it is judged by, where that is another. */
  judgedAt?: Date
}

// Behind these stands a person, but the address and the program are the proxy's.
const imageProxies = ['google_image_proxy', 'yahoo_image_proxy']

export async function recordActivity(db: Db, token: TrackingToken, visit: Visit): Promise<void> {
  const message = await findForEvent(db, token.messageId)
  if (!message) return
  if (token.kind === 'open') await keepOpen(db, message, token, visit)
  else await db.transaction((tx) => keepClick(tx, message, token, visit))
}

/** A consent that was withdrawn silences the pixels that were sent before. */
async function keepOpen(db: Db, message: Known, token: TrackingToken, visit: Visit): Promise<void> {
  const allowed = await findAllowed(db, message)
  if (allowed && mayNoteOpens(allowed)) await keep(db, message, token, visit)
}

async function keepClick(
  db: Db,
  message: Known,
  token: Extract<TrackingToken, { kind: 'click' }>,
  visit: Visit,
): Promise<void> {
  const click = { accountId: message.account_id, messageId: token.messageId, url: token.url }
  const since = new Date(visit.at.getTime() - burst.withinMs)
  await holdMessage(db, click)
  // Who clicks the same link twice is a person in a hurry.
  const { count } = await countOtherLinks(db, click, since)
  await keep(db, message, token, { ...visit, recentClicks: count + 1 })
  if (count + 1 >= burst.differentLinks) await markBurst(db, click, since)
}

async function keep(
  db: Db,
  message: Known,
  token: TrackingToken,
  visit: Visit & { recentClicks?: number },
): Promise<void> {
  const { sent_at: sentAt, delivered_at: deliveredAt } = message
  const hit = { ...visit, at: visit.judgedAt ?? visit.at, kind: token.kind, sentAt, deliveredAt }
  const { classification, reason } = classifyActivity(hit)
  const isProxied = imageProxies.includes(reason)
  const told = { id: message.id, accountId: message.account_id, recipient: message.recipient, at: visit.at }
  await recordEvent(db, told, token.kind, {
    ip: isProxied ? null : visit.ip,
    user_agent: isProxied ? null : (visit.userAgent?.slice(0, 500) ?? null),
    classification,
    classification_reason: reason,
    ...(token.kind === 'click' ? { url: token.url } : {}),
  })
}

// An open or a click arrives: found by its token, judged, kept. Every one is kept; statistics choose later.
import type { Db } from '../../../kernel/db.ts'
import { findForEvent } from '../event-queries.ts'
import { recordEvent } from '../record-event.ts'
import { classifyActivity } from './classify.ts'
import { countOtherLinks } from './queries.ts'
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
  const { sent_at: sentAt, delivered_at: deliveredAt } = message
  const hit = { ...visit, at: visit.judgedAt ?? visit.at, kind: token.kind, sentAt, deliveredAt }
  const recentClicks = await recentLinks(db, message.account_id, token, visit.at)
  const { classification, reason } = classifyActivity({ ...hit, recentClicks })
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

/** This one among them: who clicks the same link twice is a person in a hurry. */
async function recentLinks(
  db: Db,
  accountId: string,
  token: TrackingToken,
  at: Date,
): Promise<number | undefined> {
  if (token.kind === 'open') return undefined
  const since = new Date(at.getTime() - 1_000)
  return (await countOtherLinks(db, { accountId, ...token }, since)).count + 1
}

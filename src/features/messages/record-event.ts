// What happened to a message after it was handed over, from whichever side it was told.

import type { Db } from '../../kernel/db.ts'
import { newUuid } from '../../kernel/id.ts'
import type { Said } from '../../kernel/ports.ts'
import { suppress } from '../suppressions/suppressions.ts'
import type { BounceVerdict } from './bounces/classes.ts'
import { reachesSoftBounceLimit } from './bounces/soft-bounce-limit.ts'
import { addSoftBounce, clearSoftBounces, insertEvents, markDelivered, markFailed } from './event-queries.ts'
import type { LastError } from './model.ts'

export type Told = { id: string; accountId: string; recipient: string; at: Date }

export async function recordEvent(db: Db, told: Told, type: string, data: object): Promise<void> {
  await insertEvents(db, [
    {
      id: newUuid(),
      accountId: told.accountId,
      messageId: told.id,
      type,
      at: told.at,
      data: JSON.stringify(data),
    },
  ])
}

export async function recordDelivery(db: Db, told: Told, response: string): Promise<void> {
  await markDelivered(db, told.accountId, told.id, told.at)
  await clearSoftBounces(db, told.accountId, told.recipient)
  await recordEvent(db, told, 'delivery', { response })
}

export async function recordBounce(db: Db, told: Told, said: Said, verdict: BounceVerdict): Promise<void> {
  await markFailed(db, told.accountId, told.id, JSON.stringify(lastErrorOf(verdict.class, said)))
  await recordEvent(db, told, 'bounce', bounceData(said, verdict))
  await applyBounce(db, told, verdict)
}

/** Only an address that does not exist is suppressed at once; one that keeps failing, after a while. */
export async function applyBounce(db: Db, told: Told, verdict: BounceVerdict): Promise<void> {
  const ref = { accountId: told.accountId, email: told.recipient }
  const why = { source: 'bounce', messageId: told.id, at: told.at }
  if (verdict.suppresses) {
    await suppress(db, ref, { ...why, reason: 'hard_bounce' })
  } else if (verdict.countsToLimit) {
    const counted = await addSoftBounce(db, told)
    if (!counted) return
    const history = { softBouncesAt: counted.bounced_at, lastDeliveredAt: null, now: told.at }
    if (reachesSoftBounceLimit(history)) await suppress(db, ref, { ...why, reason: 'soft_bounce_limit' })
  }
}

export async function recordComplaint(db: Db, told: Told, feedbackType: string): Promise<void> {
  await recordEvent(db, told, 'complaint', { feedback_type: feedbackType })
  const ref = { accountId: told.accountId, email: told.recipient }
  await suppress(db, ref, { reason: 'complaint', source: 'feedback', messageId: told.id, at: told.at })
}

export function bounceData(said: Said, verdict: BounceVerdict) {
  return {
    bounce_type: verdict.bounceType,
    smtp_code: said.smtpCode,
    enhanced_code: said.enhancedCode,
    reason: said.message || verdict.reason,
    class: verdict.class,
  }
}

export function lastErrorOf(code: string, said: Said): LastError {
  return { code, smtp_code: said.smtpCode, enhanced_code: said.enhancedCode, message: said.message }
}

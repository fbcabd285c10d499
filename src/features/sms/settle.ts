// The result of a hand-over, recorded in one transaction.
import type { Db } from '../../kernel/db.ts'
import type { SmsOutcome } from '../../kernel/ports.ts'
import { storable } from '../../kernel/v3/lenient.ts'
import { nextTry } from '../messages/model.ts'
import { type DueRow, markEnded, markSent, markWaiting } from './delivery-queries.ts'
import { insertEvent, markDelivered } from './event-queries.ts'
import type { EventType } from './model.ts'
import { insertOptout } from './queries.ts'

export type SmsResult =
  | SmsOutcome
  | { kind: 'suppressed'; reason: string }
  /** It is a marketing SMS and too late for today: its sender decides about another day, not we. */
  | { kind: 'closed'; says: string }

export type HandedOver = {
  due: DueRow
  result: SmsResult
  /** The transport keeps it: nobody else will say that it arrived. */
  isCaptured: boolean
  /** Made once: a result that is recorded again is the same events. */
  eventIds: [string, string]
}

export type SettleNeeds = { db: Db; now: () => Date; retryFactor: number }

export async function settle(needs: SettleNeeds, handedOver: HandedOver): Promise<void> {
  const at = needs.now()
  const { due } = handedOver
  const result = written(handedOver.result)
  await needs.db.transaction(async (tx) => {
    switch (result.kind) {
      case 'accepted':
        return taken(tx, handedOver, result.upstreamId, at)
      case 'suppressed':
        return ended(tx, handedOver, { status: 'suppressed', type: 'blocked', reason: result.reason, at })
      case 'closed':
        return ended(tx, handedOver, { status: 'failed', type: 'skipped', reason: result.says, at })
      case 'failed':
        await ended(tx, handedOver, { status: 'failed', type: result.as, reason: result.message, at })
        if (result.as !== 'blocked') return
        return insertOptout(tx, { accountId: due.account_id, phone: due.recipient, reason: 'upstream', at })
      default:
        return retried(tx, needs, handedOver, { ...result, at })
    }
  })
}

/** What an upstream says can be anything; what the database does not take would be sent again for ever. */
const written = (result: SmsResult): SmsResult =>
  'message' in result ? { ...result, message: storable(result.message) } : result

const refOf = ({ due }: HandedOver) => ({ accountId: due.account_id, id: due.id })

async function taken(tx: Db, one: HandedOver, upstreamId: string | null, at: Date): Promise<void> {
  const ref = refOf(one)
  await markSent(tx, { ...ref, upstreamId, at })
  await insertEvent(tx, ref, { id: one.eventIds[0], type: 'sent', at, data: {} })
  if (!one.isCaptured) return
  await markDelivered(tx, ref, at)
  await insertEvent(tx, ref, { id: one.eventIds[1], type: 'delivered', at, data: {} })
}

type End = { status: 'failed' | 'suppressed'; type: EventType; reason: string; at: Date }

async function ended(tx: Db, one: HandedOver, { status, type, reason, at }: End): Promise<void> {
  const ref = refOf(one)
  if (await markEnded(tx, { ...ref, status, error: reason }))
    await insertEvent(tx, ref, { id: one.eventIds[0], type, at, data: { reason } })
}

type Retry = Extract<SmsOutcome, { kind: 'deferred' | 'uncertain' }> & { at: Date }

// Each of them may have arrived: it is paid, and somebody reads it.
const mostUnsure = 3

async function retried(tx: Db, needs: SettleNeeds, one: HandedOver, told: Retry): Promise<void> {
  const { attempts, tried_since } = one.due
  const isTransport = told.kind === 'deferred' && told.fault === 'transport'
  const next = nextTry({
    attempts,
    triedSince: tried_since ?? told.at,
    now: told.at,
    isTransport,
    askedMs: told.retryAfterMs ?? 0,
    factor: needs.retryFactor,
  })
  const { message: error, at } = told
  const end = { status: 'failed', type: 'soft_bounce', at } as const
  if (told.kind === 'uncertain' && attempts >= mostUnsure)
    return ended(tx, one, { ...end, reason: `It may have been sent, ${attempts} times at most: ${error}` })
  if (!next) return ended(tx, one, { ...end, reason: error })
  const counted = isTransport ? attempts - 1 : attempts
  await markWaiting(tx, { ...refOf(one), at, attempts, counted, dueAt: next.at, error })
}

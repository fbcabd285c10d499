// What came of turns, recorded many at a time in one transaction; and whether a receiver is given up.
import type { Db } from '../../kernel/db.ts'
import { raiseNotice } from '../accounts/notices/notices.ts'
import type { Outcome } from './call.ts'
import { type Ended, endTurns } from './health-queries.ts'
import { dropQueued, putOffQueued, type TurnRow } from './queue-queries.ts'
import type { Sent } from './turn.ts'

export type EndedTurn = { turn: TurnRow; sent: Sent }

type Needs = { db: Db; now: () => Date; retryFactor: number }

export async function recordTurns(needs: Needs, ended: EndedTurn[]): Promise<undefined[]> {
  const at = needs.now()
  const dropped = ended.flatMap(({ sent }) => sent.dropped)
  const putOff = ended.flatMap(({ turn, sent }) =>
    sent.putOff.map((one) => ({ ...one, modifiedAt: turn.modified_at })),
  )
  const health = ended.map((one) => healthAfter(needs, one, at))
  await needs.db.transaction(async (tx) => {
    // The webhooks first: whoever changes one takes what waits for it after it.
    const disabled = await endTurns(tx, health)
    if (dropped.length > 0) await dropQueued(tx, dropped)
    if (putOff.length > 0) await putOffQueued(tx, putOff)
    for (const { id, reason } of disabled) {
      const off = ended.find(({ turn }) => turn.id === id)
      if (off) await tell(tx, off, reason, at)
    }
  })
  return ended.map(() => undefined)
}

const givenUpAfterMs = 5 * 24 * 3_600_000
// Tries are a day apart at most. Over a longer time nobody asked, and it counts for nothing.
const longestSilenceMs = 36 * 3_600_000
const slowMs = 2_000

function healthAfter({ retryFactor }: Needs, { turn, sent }: EndedTurn, at: Date): Ended {
  const { outcomes } = sent
  const failed = outcomes.filter(({ isTaken }) => !isTaken)
  const isAnyTaken = failed.length < outcomes.length
  const { failingSince, failedAt } = isAnyTaken ? well : failingAfter(turn, failed)
  const longest = failed.toSorted((a, b) => b.askedMs - a.askedMs)[0]
  const asked = (longest?.askedMs ?? 0) * Math.min(1, retryFactor)
  const disabledReason = reasonToDisable(failed, failingSince)
  return {
    accountId: turn.account_id,
    id: turn.id,
    turn: turn.turn,
    modifiedAt: turn.modified_at,
    failingSince,
    failedAt,
    inTrouble: failingSince !== null || failed.length > 0 || outcomes.some(({ tookMs }) => tookMs > slowMs),
    pausedUntil: asked > 0 ? new Date(at.getTime() + asked) : null,
    pausedAt: longest?.at ?? null,
    disabledAt: disabledReason === null ? null : at,
    disabledReason,
  }
}

type Failing = Pick<Ended, 'failingSince' | 'failedAt'>
const well: Failing = { failingSince: null, failedAt: null }

/** Of calls that all failed, and those before them. */
function failingAfter({ failing_since, failed_at }: TurnRow, failed: Outcome[]): Failing {
  const times = failed.map(({ at }) => at.getTime()).sort((a, b) => a - b)
  const [first, last] = [times[0], times.at(-1)]
  if (first === undefined || last === undefined) return { failingSince: failing_since, failedAt: failed_at }
  const goesOn = failed_at !== null && first - failed_at.getTime() <= longestSilenceMs
  return { failingSince: (goesOn && failing_since) || new Date(first), failedAt: new Date(last) }
}

function reasonToDisable(failed: Outcome[], failingSince: Date | null): string | null {
  if (failed.some(({ statusCode }) => statusCode === 410)) return 'The receiver answered 410: it is gone.'
  const last = failed.at(-1)
  if (!last || failingSince === null || last.at.getTime() - failingSince.getTime() < givenUpAfterMs)
    return null
  return `Every call failed for five days, the last with: ${last.error ?? 'no answer'}`
}

async function tell(db: Db, { turn }: EndedTurn, reason: string, at: Date): Promise<void> {
  const { host } = new URL(turn.url)
  await raiseNotice(
    db,
    {
      accountId: turn.account_id,
      code: 'webhook_disabled',
      subject: turn.id,
      message: `Webhook ${turn.id} to ${host} was switched off. ${reason} PUT /v3/webhooks/${turn.id} switches it on.`,
      details: { webhook_id: Number(turn.id), reason },
    },
    at,
  )
}

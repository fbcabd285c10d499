// Requests per minute, per account and operation, exact across processes: every request takes its turn
// from the shared row, and requests that arrive together take theirs in one statement.
import type { Db } from '../kernel/db.ts'
import { gather } from '../kernel/gather.ts'
import { type RateAsk, type RateRow, takeRates } from './queries.ts'

export type Turn = { accountId: string; operation: string; allowed: number }
export type Rate = { granted: boolean; limit: number; remaining: number; resetSeconds: number }
export type TakeTurn = (turn: Turn) => Promise<Rate>

export function turnTaker(db: Db): TakeTurn {
  return gather((turns: Turn[]) => takeTurns(db, turns))
}

async function takeTurns(db: Db, turns: Turn[]): Promise<Rate[]> {
  const asks = new Map<string, RateAsk>()
  for (const { accountId, operation, allowed } of turns) {
    const name = nameOf(accountId, operation)
    const ask = asks.get(name) ?? { accountId, operation, wanted: 0, allowed }
    asks.set(name, { ...ask, wanted: ask.wanted + 1 })
  }
  const rows = await takeRates(db, [...asks.values()])
  const found = new Map(rows.map((row) => [nameOf(row.account_id, row.operation), standingOf(row)]))
  return turns.map(({ accountId, operation, allowed }) =>
    dealOut(found.get(nameOf(accountId, operation)), allowed),
  )
}

type Standing = { used: number; granted: number; resetSeconds: number }

function standingOf({ buckets, granted }: RateRow): Standing {
  const used = buckets.reduce((sum, n) => sum + n, 0)
  return { used, granted, resetSeconds: secondsToNext(buckets) }
}

function nameOf(accountId: string, operation: string): string {
  return `${accountId} ${operation}`
}

// Each call takes one of what was granted together, in the order of arrival.
function dealOut(standing: Standing | undefined, limit: number): Rate {
  if (!standing) throw new Error('a rate row is missing from its own batch')
  const granted = standing.granted > 0
  if (granted) standing.granted--
  const remaining = Math.max(0, limit - standing.used + standing.granted)
  return { granted, limit, remaining, resetSeconds: standing.resetSeconds }
}

/** When the oldest counted request leaves the window; one that allows nothing is asked again in a minute. */
function secondsToNext(buckets: number[]): number {
  const oldest = buckets.findIndex((n) => n > 0)
  return oldest === -1 ? buckets.length : oldest + 1
}

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
  const found = new Map(rows.map((row) => [nameOf(row.account_id, row.operation), row]))
  return turns.map(({ accountId, operation, allowed }) =>
    dealOut(found.get(nameOf(accountId, operation)), allowed),
  )
}

function nameOf(accountId: string, operation: string): string {
  return `${accountId} ${operation}`
}

// Each call takes one of what was granted together, in the order of arrival.
function dealOut(row: RateRow | undefined, limit: number): Rate {
  if (!row) throw new Error('a rate row is missing from its own batch')
  const granted = row.granted > 0
  if (granted) row.granted--
  return { granted, limit, remaining: Math.max(0, limit - row.used + row.granted), resetSeconds: row.oldest }
}

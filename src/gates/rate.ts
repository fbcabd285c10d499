// Requests per minute, per account and operation, never exceeded across processes: turns come from the shared row,
// and requests that arrive together take theirs in one statement. Where very many are left, a busy process takes some
// ahead and deals them out itself for the next second.
import type { Db } from '../kernel/db.ts'
import { gather } from '../kernel/gather.ts'
import { type RateAsk, type RateRow, takeRates } from './queries.ts'

export type Turn = { accountId: string; operation: string; allowed: number }
export type Rate = { granted: boolean; limit: number; remaining: number; resetSeconds: number }
export type TakeTurn = (turn: Turn) => Promise<Rate>

export function turnTaker(db: Db): TakeTurn {
  const stocks = new Map<string, Stock>()
  const take = gather((turns: Turn[]) => takeTurns(db, stocks, turns))
  return async (turn) => fromStock(stocks, turn) ?? take(turn)
}

/** Turns that were granted and have nobody yet. */
type Stock = { row: RateRow; limit: number; until: number }

const stockMs = 1_000
// So many at once are waiting where it is worth while, each of them brings so many for others, and what is taken
// ahead, and may be in vain, is never more than this part of what is left: limits below 4,000 are counted one by one.
const busy = 4
const aheadOfEach = 10
const partOfRest = 100

function fromStock(stocks: Map<string, Stock>, { accountId, operation, allowed }: Turn): Rate | undefined {
  const stock = stocks.get(nameOf(accountId, operation))
  const isGood = stock && stock.limit === allowed && stock.row.granted > 0 && stock.until > performance.now()
  return isGood ? dealOut(stock.row, allowed) : undefined
}

async function takeTurns(db: Db, stocks: Map<string, Stock>, turns: Turn[]): Promise<Rate[]> {
  const asks = new Map<string, RateAsk>()
  for (const { accountId, operation, allowed } of turns) {
    const name = nameOf(accountId, operation)
    const ask = asks.get(name) ?? { accountId, operation, wanted: 0, allowed }
    asks.set(name, { ...ask, wanted: ask.wanted + 1 })
  }
  for (const [name, ask] of asks) ask.wanted += takenAhead(stocks.get(name), ask)
  const rows = await takeRates(db, [...asks.values()])
  const found = new Map(rows.map((row) => [nameOf(row.account_id, row.operation), row]))
  const rates = turns.map(({ accountId, operation, allowed }) =>
    dealOut(found.get(nameOf(accountId, operation)), allowed),
  )
  for (const [name, row] of found) keepStock(stocks, name, { row, limit: asks.get(name)?.allowed ?? 0 })
  return rates
}

function takenAhead(stock: Stock | undefined, { wanted, allowed }: RateAsk): number {
  if (!stock || stock.limit !== allowed || wanted < busy) return 0
  const ahead = wanted * aheadOfEach
  return ahead * partOfRest <= allowed - stock.row.used ? ahead : 0
}

/** Kept also when it is empty, for what it says about the rest; not where nothing can ever be taken ahead. */
function keepStock(stocks: Map<string, Stock>, name: string, stock: Omit<Stock, 'until'>): void {
  if (stock.limit < busy * aheadOfEach * partOfRest) return
  stocks.set(name, { ...stock, until: performance.now() + stockMs })
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

// No account takes all connections of a pool: what it asks beyond its share waits for its own, and others go on.
import type { Db } from './db.ts'
import { accountBusy } from './refusals.ts'
import { within } from './within.ts'

type Line = { running: number; waiting: (() => void)[] }

const patienceMs = 10_000

export type Share = <T>(accountId: string, work: () => Promise<T>) => Promise<T>

/** Of one account's works so many run at a time. */
export function openShare(most: number, waitMs = patienceMs): Share {
  const lines = new Map<string, Line>()

  async function enter(line: Line): Promise<void> {
    if (line.running < most) {
      line.running++
      return
    }
    let turn = () => {}
    const turned = new Promise<void>((resolve) => {
      turn = resolve
    })
    line.waiting.push(turn)
    await within(waitMs, turned, () => {
      line.waiting = line.waiting.filter((one) => one !== turn)
      return accountBusy({ retryAfterSeconds: Math.ceil(waitMs / 1000) })
    })
  }

  function leave(accountId: string, line: Line): void {
    // The place goes to the next in line as it is.
    const next = line.waiting.shift()
    if (next) next()
    else line.running--
    if (line.running === 0) lines.delete(accountId)
  }

  return async (accountId, work) => {
    const line = lines.get(accountId) ?? { running: 0, waiting: [] }
    lines.set(accountId, line)
    await enter(line)
    try {
      return await work()
    } finally {
      leave(accountId, line)
    }
  }
}

/** The pool as one account has it: each statement and each transaction takes a place of its share. */
export function sharedDb(db: Db, share: Share, accountId: string): Db {
  const placed = <T>(work: () => Promise<T>) => share(accountId, work)
  return {
    ...db,
    one: (shape, statement) => placed(() => db.one(shape, statement)),
    maybe: (shape, statement) => placed(() => db.maybe(shape, statement)),
    many: (shape, statement) => placed(() => db.many(shape, statement)),
    run: (statement) => placed(() => db.run(statement)),
    runLast: (statement, locks) => placed(() => db.runLast(statement, locks)),
    transaction: (work) => placed(() => db.transaction(work)),
    byKeys: (work) => placed(() => db.byKeys(work)),
    patiently: (work, stopping) => placed(() => db.patiently(work, stopping)),
  }
}

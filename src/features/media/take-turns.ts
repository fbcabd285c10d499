// So many at a time; the others wait, an account as long as another, and too many are sent away.
import { rateLimited } from '../../kernel/refusals.ts'

export type TakeTurn = <T>(accountId: string, work: () => Promise<T>) => Promise<T>

export type Turns = {
  atOnce: number
  waiting: number
  /** How many of them one account may have. */
  each: number
}

export function takeTurns({ atOnce, waiting, each }: Turns): TakeTurn {
  // By account, in the order of their next turns.
  const queues = new Map<string, (() => void)[]>()
  let free = atOnce
  let placed = 0

  function place(accountId: string): Promise<void> {
    const queue = queues.get(accountId) ?? []
    if (placed >= waiting || queue.length >= each)
      throw rateLimited({ message: 'Too many images are being read at the moment.', retryAfterSeconds: 5 })
    queues.set(accountId, queue)
    placed++
    return new Promise((resolve) => queue.push(resolve))
  }

  function next(): (() => void) | undefined {
    for (const [accountId, queue] of queues) {
      queues.delete(accountId)
      const turn = queue.shift()
      // Behind all others.
      if (queue.length > 0) queues.set(accountId, queue)
      placed--
      return turn
    }
    return undefined
  }

  return async (accountId, work) => {
    if (free > 0) free--
    else await place(accountId)
    try {
      return await work()
    } finally {
      // The turn is handed on, so that nobody gets in between.
      const turn = next()
      if (turn) turn()
      else free++
    }
  }
}

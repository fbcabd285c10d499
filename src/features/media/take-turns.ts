// So many at a time; the others wait, and too many are sent away.
import { rateLimited } from '../../kernel/refusals.ts'

export type TakeTurn = <T>(work: () => Promise<T>) => Promise<T>

export function takeTurns({ atOnce, waiting }: { atOnce: number; waiting: number }): TakeTurn {
  const queue: (() => void)[] = []
  let free = atOnce
  return async (work) => {
    if (free > 0) free--
    else await place(queue, waiting)
    try {
      return await work()
    } finally {
      // The turn is handed on, so that nobody gets in between.
      const next = queue.shift()
      if (next) next()
      else free++
    }
  }
}

function place(queue: (() => void)[], most: number): Promise<void> {
  if (queue.length < most) return new Promise((resolve) => queue.push(resolve))
  throw rateLimited({ message: 'Too many images are being read at the moment.', retryAfterSeconds: 5 })
}

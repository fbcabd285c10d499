// Hand-overs side by side. The server of one customer may take minutes over each: it keeps nobody else's waiting.
export type Lanes = {
  /** Starts what there is room for, until all is done or the time is up; what was not started is left. */
  run<T extends { account_id: string }>(
    items: T[],
    work: (item: T) => Promise<void>,
    ms?: number,
  ): Promise<void>
  /** For how many more. */
  room(): number
  isBusy(): boolean
  /** When nothing is under way any more. */
  idle(): Promise<void>
}

type Most = { atOnce: number; ofAccount: number }

export function openLanes({ atOnce, ofAccount }: Most): Lanes {
  const running = new Map<Promise<void>, string>()
  const hasRoom = ({ account_id }: { account_id: string }) =>
    running.size < atOnce && [...running.values()].filter((one) => one === account_id).length < ofAccount

  const start = (account: string, working: Promise<void>) => {
    const over: Promise<void> = working.finally(() => running.delete(over))
    running.set(over, account)
  }

  return {
    async run(items, work, ms) {
      const left = [...items]
      const timeUp = ms === undefined ? undefined : later(ms)
      try {
        while (left.length > 0 || running.size > 0) {
          for (let at = left.findIndex(hasRoom); at >= 0; at = left.findIndex(hasRoom))
            for (const item of left.splice(at, 1)) start(item.account_id, work(item))
          const next = Promise.race(running.keys())
          if ((await Promise.race(timeUp ? [next, timeUp.over] : [next])) === 'time is up') return
        }
      } finally {
        timeUp?.cancel()
      }
    },
    room: () => atOnce - running.size,
    isBusy: () => running.size > 0,
    idle: async () => {
      await Promise.allSettled(running.keys())
    },
  }
}

function later(ms: number) {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<'time is up'>((resolve) => {
    timer = setTimeout(() => resolve('time is up'), ms)
  })
  return { over, cancel: () => clearTimeout(timer) }
}

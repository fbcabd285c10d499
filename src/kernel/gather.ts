// Many small requests, one statement: what arrives while a batch is under way forms the next one.
// Where nothing else is said there is no timer, so a request that comes alone goes at once.

export type Gatherer<In, Out> = (item: In) => Promise<Out>

type Waiting<In, Out> = { item: In; resolve: (out: Out) => void; reject: (error: unknown) => void }

export type GatherOptions = {
  largest?: number
  /** How many batches may be under way at a time. */
  underWay?: number
  /** How many have to wait before another batch starts beside one that is under way. */
  worthAnother?: number
  /** Asked before a batch starts: one of fewer waits for more, no longer than `waitMs`. */
  enough?: () => number
  waitMs?: number
}

export function gather<In, Out>(
  work: (items: In[]) => Promise<Out[]>,
  { largest = 256, underWay = 1, worthAnother = 1, enough = () => 1, waitMs = 0 }: GatherOptions = {},
): Gatherer<In, Out> {
  let waiting: Waiting<In, Out>[] = []
  let running = 0
  const onArrival = new Set<() => unknown>()

  async function drain() {
    while (waiting.length > 0) {
      if (waiting.length < enough()) await moreOrLate()
      const batch = waiting.slice(0, largest)
      waiting = waiting.slice(largest)
      await settle(batch)
    }
    running--
  }

  function moreOrLate(): Promise<void> {
    return new Promise((resolve) => {
      const goOn = () => {
        clearTimeout(timer)
        onArrival.delete(look)
        resolve()
      }
      const look = () => waiting.length >= enough() && goOn()
      const timer = setTimeout(goOn, waitMs)
      onArrival.add(look)
    })
  }

  async function settle(batch: Waiting<In, Out>[]) {
    try {
      const outs = await work(batch.map(({ item }) => item))
      batch.forEach(({ resolve }, i) => {
        resolve(outs[i] as Out)
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      for (const look of onArrival) look()
      if (running >= underWay || (running > 0 && waiting.length < worthAnother)) return
      running++
      // Everything that this turn of the event loop reads from its sockets travels together.
      setImmediate(drain)
    })
}

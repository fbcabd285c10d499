// Many small requests, one statement: what arrives while a batch is under way forms the next one.
// Where nothing else is said there is no timer, so a request that comes alone goes at once.

export type Gatherer<In, Out> = (item: In) => Promise<Out>

type Waiting<In, Out> = {
  item: In
  weight: number
  resolve: (out: Out) => void
  reject: (error: unknown) => void
}

export type GatherOptions<In> = {
  largest?: number
  /** What an item weighs, and what a batch of more than one may: large ones would keep the small ones waiting. */
  weigh?: (item: In) => number
  heaviest?: number
  /** How many batches may be under way at a time. */
  underWay?: number
  /** How many have to wait before another batch starts beside one that is under way, unless that is a heavy one. */
  worthAnother?: number
  /** Asked before a batch starts: one of fewer waits for more, no longer than `waitMs`. */
  enough?: () => number
  waitMs?: number
}

export function gather<In, Out>(
  work: (items: In[]) => Promise<Out[]>,
  options: GatherOptions<In> = {},
): Gatherer<In, Out> {
  const { underWay = 1, worthAnother = 1, enough = () => 1, waitMs = 0, weigh = () => 0 } = options
  const { heaviest = Number.POSITIVE_INFINITY } = options
  let waiting: Waiting<In, Out>[] = []
  let running = 0
  // Batches that take their time: others do not wait for more of their kind then.
  let heavy = 0
  const onArrival = new Set<() => unknown>()

  async function drain() {
    while (waiting.length > 0) {
      if (waiting.length < enough()) await moreOrLate()
      const count = portionOf(waiting, options)
      const batch = waiting.slice(0, count)
      waiting = waiting.slice(count)
      const isHeavy = batch.reduce((sum, { weight }) => sum + weight, 0) > heaviest
      if (isHeavy) heavy++
      await settle(batch)
      if (isHeavy) heavy--
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
      waiting.push({ item, weight: weigh(item), resolve, reject })
      for (const look of onArrival) look()
      const light = running - heavy
      if (light >= underWay || running >= 2 * underWay || (light > 0 && waiting.length < worthAnother)) return
      running++
      // Everything that this turn of the event loop reads from its sockets travels together.
      setImmediate(drain)
    })
}

/** How many of the first go together. */
function portionOf<In>(
  waiting: { weight: number }[],
  { largest = 256, heaviest = Number.POSITIVE_INFINITY }: GatherOptions<In>,
): number {
  let weight = 0
  const end = waiting.findIndex((one, i) => {
    weight += one.weight
    return i === largest || (i > 0 && weight > heaviest)
  })
  return end < 0 ? waiting.length : end
}

import autocannon from 'autocannon'

export type Load = {
  url: string
  method?: 'GET' | 'POST' | 'PUT'
  headers?: Record<string, string>
  body?: string
  connections: number
}

const seconds = 3

/** Requests per second; any answer other than 2xx spoils the figure and is an error. */
export async function requestRate(load: Load): Promise<number> {
  const result = await autocannon({ ...load, duration: seconds, pipelining: 1 })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${load.url}: ${result.non2xx} answers other than 2xx, ${result.errors} errors`)
  }
  return result.requests.total / result.duration
}

/** Loops of one statement each, for as long as the load tests take. */
export async function loopRate(loops: number, work: (loop: number) => Promise<void>): Promise<number> {
  const end = performance.now() + seconds * 1000
  let done = 0
  const started = performance.now()
  await Promise.all(
    Array.from({ length: loops }, async (_, loop) => {
      while (performance.now() < end) {
        await work(loop)
        done++
      }
    }),
  )
  return done / ((performance.now() - started) / 1000)
}

export function median(figures: number[]): number {
  const sorted = [...figures].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

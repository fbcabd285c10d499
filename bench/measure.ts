const seconds = 3

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

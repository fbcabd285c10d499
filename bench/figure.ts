import { median } from './measure.ts'

/** One row of the table: a rate, or what its name says, as a ratio to an anchor that was measured in the same run. */
export type Figure = {
  name: string
  anchor: string
  measured: number
  anchorMeasured: number
  ratio: number
  /** The ratio asked for; below it the bench fails. */
  wanted: number
  /** Above it the bench fails too: for what must not grow. */
  atMost?: number
}

const rounds = 3

type Pair = { name: string; anchor: string; wanted: number }

/** Subject and anchor take turns, so that a busy moment of the machine touches both. */
export async function compare(
  pair: Pair,
  measure: () => Promise<number>,
  measureAnchor: () => Promise<number>,
): Promise<Figure> {
  const [figures, anchors]: [number[], number[]] = [[], []]
  // What is compared is the pace of a process that has been at it for a while, compiled code and all.
  for (let warmUp = 0; warmUp < 3; warmUp++) await measure()
  await measureAnchor()
  for (let round = 0; round < rounds; round++) {
    anchors.push(await measureAnchor())
    figures.push(await measure())
  }
  const [measured, anchorMeasured] = [median(figures), median(anchors)]
  return { ...pair, measured, anchorMeasured, ratio: measured / anchorMeasured }
}

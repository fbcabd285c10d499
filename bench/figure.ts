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

export const turns = 5

type Measured = 'measured' | 'anchorMeasured' | 'ratio'
type Pair = { name: string; anchor: string; wanted: number }

/**
 * Subject and anchor take turns, so that a busy moment of the machine touches both; the ratio is the median of those of
 * the turns, because a shared machine is fast and slow for minutes.
 */
export async function compare(
  pair: Pair,
  measure: () => Promise<number>,
  measureAnchor: () => Promise<number>,
): Promise<Figure> {
  const [figures, anchors]: [number[], number[]] = [[], []]
  // What is compared is the pace of a process that has been at it for a while, compiled code and all.
  for (let warmUp = 0; warmUp < 3; warmUp++) await measure()
  await measureAnchor()
  for (let turn = 0; turn < turns; turn++) {
    anchors.push(await measureAnchor())
    figures.push(await measure())
  }
  return figureOfTurns(pair, figures, anchors)
}

export function figureOfTurns(row: Omit<Figure, Measured>, figures: number[], anchors: number[]): Figure {
  const ratio = median(figures.map((figure, turn) => figure / (anchors[turn] ?? 0)))
  return { ...row, measured: median(figures), anchorMeasured: median(anchors), ratio }
}

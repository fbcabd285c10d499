// Templates are rendered in the loop that serves everybody: what renders much gives way to the others in between, and
// has so much time in all.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { templateFault } from './fault.ts'
import { limits } from './limits.ts'

/** What is left to all renderings of one request. */
export type RenderTime = { leftMs: number }

export function renderTime(messages = 1): RenderTime {
  return { leftMs: limits.renderMilliseconds + messages * limits.messageMilliseconds }
}

// One loop, one account of it: many requests that render a little hold it up as much as one that renders a lot.
const longestTurnMs = 20
let usedMs = 0
let lastTurn: Promise<unknown> = Promise.resolve()

/** Not before the loop has served others since the last long work. Two who wait do not get the same turn. */
async function giveWay(): Promise<void> {
  const turn = lastTurn.then(() => nextTurn())
  lastTurn = turn
  await turn
  usedMs = 0
}

export async function inTurn<T>(work: () => T, time?: RenderTime): Promise<T> {
  if (usedMs > longestTurnMs) await giveWay()
  if (time && time.leftMs <= 0)
    throw templateFault('The templates of this request take too long to render together.')
  const before = time && process.cpuUsage()
  const begun = performance.now()
  try {
    return work()
  } finally {
    const tookMs = performance.now() - begun
    usedMs += tookMs
    if (time && before) time.leftMs -= Math.min(tookMs, processorMs(before))
  }
}

/** A machine that is busy with something else makes no template slow. */
function processorMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

import { setTimeout as sleep } from 'node:timers/promises'

export type Deadline = { left(): number; isOver(): boolean }

export const deadlineIn = (ms: number): Deadline => {
  const end = performance.now() + ms
  const left = () => Math.max(0, end - performance.now())
  return { left, isOver: () => left() === 0 }
}

export const pause = (ms: number) => sleep(ms)

/** True as soon as the condition holds, false when the time is up. */
export const until = async (holds: () => boolean | Promise<boolean>, within: Deadline, everyMs = 20) => {
  for (;;) {
    if (await holds()) return true
    if (within.isOver()) return false
    await pause(everyMs)
  }
}

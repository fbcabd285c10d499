import { templateFault } from './fault.ts'
import { limits } from './limits.ts'

// The first half of the time is measured by the clock, which costs nothing; the second by the processor time, so
// that a harmless template is not stopped because the machine was busy with something else.
const half = limits.renderMilliseconds / 2

/** Takes the place of the library's check, which knows the clock only. */
export function timeLimit(): (now: number) => void {
  let deadline = performance.now() + half
  let before: NodeJS.CpuUsage | undefined
  return (now) => {
    if (now <= deadline) return
    before ??= process.cpuUsage()
    const { user, system } = process.cpuUsage(before)
    const left = half - (user + system) / 1000
    if (left <= 0) throw templateFault('The template was stopped because it takes too long to render.')
    deadline = now + left
  }
}

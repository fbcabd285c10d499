import { templateFault } from './fault.ts'
import { limits } from './limits.ts'
import { timeLimit } from './time-limit.ts'

// A rendering is one stretch of the loop, so that one account serves them all. The library looks at the clock between
// outputs and not within one, the fast path never; and what filters make of a text may be far longer than the text.
const charactersBetweenChecks = 100_000

let [done, unchecked] = [0, 0]
let checkTime = timeLimit()

export function beginRendering(): void {
  done = 0
  unchecked = 0
  checkTime = timeLimit()
}

export function countWork(characters: number): void {
  done += characters
  if (done > limits.workedCharacters)
    throw templateFault('The template was stopped because its filters go through too much text.')
  unchecked += characters
  if (unchecked < charactersBetweenChecks) return
  unchecked = 0
  checkTime(performance.now())
}

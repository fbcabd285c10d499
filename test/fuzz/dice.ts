// Choices that come again: the same number gives the same request.
import { randomFrom } from '../faults/random.ts'

export type Dice = {
  chance(probability: number): boolean
  /** From 0 up to, but not including, this number. */
  below(end: number): number
  pick<T>(choices: readonly T[]): T
}

export function diceOf(seed: number): Dice {
  const random = randomFrom(seed)
  const below = (end: number) => Math.floor(random() * end)
  return {
    chance: (probability) => random() < probability,
    below,
    pick: (choices) => choices[below(choices.length)] as (typeof choices)[number],
  }
}

// A JSON value with something wrong at one place.
import type { Dice } from './dice.ts'
import { objectOf, oddName, oddNumber, oddText, oddValue } from './odd-values.ts'

type Place = { holder: object; key: string | number }

/** Every place inside, and the value itself last. */
function placesIn(holder: object, key: string | number, found: Place[], depth = 0): Place[] {
  const value = (holder as Record<string | number, unknown>)[key]
  if (value !== null && typeof value === 'object' && depth < 12)
    for (const inner of Object.keys(value).slice(0, 50)) placesIn(value, inner, found, depth + 1)
  found.push({ holder, key })
  return found
}

/** A copy with this many faults. */
export function mutated(value: unknown, faults: number, dice: Dice): unknown {
  const root = { whole: structuredClone(value) }
  for (let i = 0; i < faults; i++) {
    const places = placesIn(root, 'whole', [])
    // The whole body is one place among many, and rarely the interesting one.
    const inner = places.slice(0, -1)
    hurt(inner.length > 0 && dice.chance(0.95) ? dice.pick(inner) : { holder: root, key: 'whole' }, dice)
  }
  return root.whole
}

function hurt({ holder, key }: Place, dice: Dice): void {
  const fields = holder as Record<string | number, unknown>
  const value = fields[key]
  const kind = dice.below(10)
  if (kind === 0 && !('whole' in holder)) delete fields[key]
  else if (kind === 1) fields[key] = [value]
  else if (kind === 2) fields[key] = objectOf([[oddName(dice), value]])
  else if (kind === 3 && Array.isArray(value)) fields[key] = many(value[0], dice)
  else if (kind === 4 && typeof value === 'string') fields[key] = value + oddText(dice)
  else if (kind === 5 && typeof value === 'string') fields[key] = oddText(dice)
  else if (kind === 6 && typeof value === 'number')
    fields[key] = dice.chance(0.5) ? String(value) : oddNumber(dice)
  else if (kind === 7 && isObject(value))
    fields[key] = objectOf([...Object.entries(value), [oddName(dice), oddValue(dice)]])
  else fields[key] = oddValue(dice)
}

const isObject = (value: unknown): value is object =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** Very many of what is small; otherwise the body would be refused for its size alone. */
function many(value: unknown, dice: Dice): unknown[] {
  const size = JSON.stringify(value ?? 1).length
  const lengths = [0, 51, 1_001, 3_000].filter((length) => length * size < 200_000)
  return Array.from({ length: dice.pick(lengths) }, () => structuredClone(value ?? 1))
}

// Schemas become checks that give all that is wrong, not only the first.
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import { addAllFormats } from './formats.ts'

export type Check = (value: unknown) => ErrorObject[]

const shared = { useDefaults: true, strict: false, verbose: true } as const

// What has more values than this is looked at up to its first fault: a body of megabytes can have millions of them.
const mostValues = 5_000

export function checkMaker(manner: Pick<Options, 'coerceTypes' | 'removeAdditional'>) {
  const [every, first] = [true, false].map((allErrors) =>
    addAllFormats(new Ajv({ ...shared, ...manner, allErrors })),
  ) as [Ajv, Ajv]
  return (schema: TSchema): Check => {
    const checkEvery = every.compile(schema)
    // Compiled at its first need, which most operations never have.
    let checkFirst: ValidateFunction | undefined
    const checkFor = (value: unknown) => {
      if (isLookedAtWhole(value)) return checkEvery
      checkFirst ??= first.compile(schema)
      return checkFirst
    }
    return (value) => {
      const check = checkFor(value)
      return check(value) ? [] : (check.errors as ErrorObject[])
    }
  }
}

/** Whether a check gives everything that is wrong with a value. */
export const isLookedAtWhole = (value: unknown) => !hasMoreValues(value, mostValues)

function hasMoreValues(value: unknown, most: number): boolean {
  const waiting = [value]
  for (let seen = 0; waiting.length > 0; seen++) {
    if (seen + waiting.length > most) return true
    const next = waiting.pop()
    // The octets of a mail are one value.
    if (next === null || typeof next !== 'object' || ArrayBuffer.isView(next)) continue
    if (Array.isArray(next) && next.length > most) return true
    const inside = Object.values(next)
    if (inside.length > most) return true
    waiting.push(...inside)
  }
  return false
}

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
    const [checkEvery, checkFirst] = [
      lazily(() => every.compile(schema)),
      lazily(() => first.compile(schema)),
    ]
    return (value) => {
      const check = isLookedAtWhole(value) ? checkEvery() : checkFirst()
      if (check(value)) return []
      const { errors } = check
      // They hold the value, which may be of megabytes, and the check would keep them until it fails again.
      check.errors = null
      return errors as ErrorObject[]
    }
  }
}

// At the first need: all at the start would take half of its time, and memory that an idle service has no use for.
function lazily(compile: () => ValidateFunction): () => ValidateFunction {
  let compiled: ValidateFunction | undefined
  return () => {
    compiled ??= compile()
    return compiled
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

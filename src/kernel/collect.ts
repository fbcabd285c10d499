// Every fault is told at once: readers that refuse do not stop each other.
import { type Fault, Refusal } from './refusal.ts'

/** What its steps refuse is kept; `settle` throws all of it as one. */
export function collector() {
  const refusals: Refusal[] = []
  const keep = (error: unknown) => {
    if (!(error instanceof Refusal)) throw error
    refusals.push(error)
    return undefined
  }
  return {
    refusals,
    read: <T>(work: () => T): T | undefined => {
      try {
        return work()
      } catch (error) {
        return keep(error)
      }
    },
    step: async <T>(work: () => T | Promise<T>): Promise<T | undefined> => {
      try {
        return await work()
      } catch (error) {
        return keep(error)
      }
    },
    settle: () => {
      const all = together(refusals)
      if (all) throw all
    },
  }
}

export function refusalsOf(work: () => unknown): Refusal[] {
  const { refusals, read } = collector()
  read(work)
  return refusals
}

/** The first one, with the others in its details. */
export function together(refusals: readonly Refusal[]): Refusal | undefined {
  const [first] = refusals
  if (!first) return undefined
  return new Refusal(first.declaration, {
    ...first.told,
    message: first.message,
    details: faultsIn(refusals),
  })
}

export function faultsIn(refusals: readonly Refusal[]): Fault[] {
  return refusals.flatMap(
    ({ code, message, told: { param, details } }) => details ?? { code, message, param },
  )
}

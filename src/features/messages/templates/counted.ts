import { Finished, printed } from './values.ts'
import { countWork } from './work.ts'

/** A filter whose result depends on nothing but its arguments. */
export type PureFilter = (value: unknown, ...args: unknown[]) => unknown

export function counted(filters: Record<string, PureFilter>): Record<string, PureFilter> {
  return Object.fromEntries(
    Object.entries(filters).map(([name, filter]): [string, PureFilter] => [
      name,
      (...given) => countTexts(given, () => filter(...given)),
    ]),
  )
}

/** Of what a filter is given and gives. */
export function countTexts<T>(given: unknown[], run: () => T): T {
  for (const one of given) countWork(lengthOf(one))
  const result = run()
  countWork(lengthOf(result))
  return result
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  return value instanceof Finished ? value.text.length : 0
}

export function numberOf(value: unknown): number {
  const text = printed(value).trim()
  return text === '' ? Number.NaN : Number(text)
}

/** How many of something are asked for: none where it is no number. */
export const countOf = (value: unknown) => Math.max(Math.trunc(numberOf(value)) || 0, 0)

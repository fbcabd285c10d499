// One record of what one or several say.
import { termsOf } from './mend.ts'

/** `left`: what stands in the texts and not in the record. */
export type Draft = { text: string; left: string[] }

/** `terms` are to be in it, `dead` is not. */
export function compose(texts: string[], terms: string[], dead: string[]): Draft {
  const read = texts.map(termsOf)
  const isDead = (word: string) => dead.includes(word)
  const left = read.flatMap((one) => [...one.left, ...one.terms.filter(isDead)])
  const kept = read.map((one) => one.terms.filter((word) => !isDead(word) && !isOneOf(terms, word)))
  // In front: nothing that stands before can decide otherwise.
  const words = [...terms, ...(kept.length > 1 ? merged(kept) : (kept[0] ?? []))]
  return { text: ['v=spf1', ...words].join(' '), left: [...new Set(left)] }
}

const isOneOf = (terms: string[], word: string) => terms.includes(word.toLowerCase().replace(/^[-+~?]/, ''))

const isAll = (word: string) => /^[-+~?]?all$/i.test(word)
const endOf = (word: string) => word.toLowerCase().replace(/^a/, '+a')

/** What one record shuts out another may let in: that comes last, so that nobody who sends is lost. */
function merged(records: string[][]): string[] {
  const terms = distinct(records.flatMap((words) => words.filter((word) => !isAll(word)).map(beforeAll)))
  const ends = records.map((words) => words.filter(isAll).map(endOf).at(-1) ?? '?all')
  return [...terms.filter((word) => !isShut(word)), ...terms.filter(isShut), commonEnd(ends)]
}

const isShut = (word: string) => /^[-~?]/.test(word)

/** Beside `all` a redirect counts for nothing: as an include it authorises the same. */
const beforeAll = (word: string) => word.replace(/^redirect=/i, 'include:')

/** Each as it first stands; a second `exp=` would spoil the record. */
function distinct(terms: string[]): string[] {
  const names = terms.map((word) =>
    /^exp=/i.test(word) ? 'exp' : word.toLowerCase().replace(/^\+|\.$/g, ''),
  )
  return terms.filter((_, i) => names.indexOf(names[i] ?? '') === i)
}

/**
 * What they agree on. Where they do not, `~all`: one of them was not meant to be complete, and `-all` has mail refused
 * before its signature is seen, while `?all` and `+all` keep nobody out.
 */
function commonEnd(ends: string[]): string {
  const [end = '~all', ...others] = new Set(ends)
  return others.length > 0 ? '~all' : end
}

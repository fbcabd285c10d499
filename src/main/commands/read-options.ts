import { InvalidArgumentError } from 'commander'
import { normalDomain } from '../../features/accounts/usage/spend-sending.ts'
import { nearest } from '../../kernel/nearest.ts'
import { isScope, type Scope, scopeNames } from '../../kernel/scope.ts'
import { oneLine } from '../../kernel/v3/lenient.ts'

export function readCount(given: string): number {
  if (/^\d{1,9}$/.test(given)) return Number(given)
  throw new InvalidArgumentError('It must be a whole number from 0 to 999999999.')
}

/** No bound: null itself would become an empty text on its way through the options. */
export const none = Symbol('none')
export type OrNone<T> = T | typeof none

/** The word takes a bound away. */
export const orNone =
  <T>(read: (given: string, before?: T) => T, word = 'none') =>
  (given: string, before?: OrNone<T>): OrNone<T> =>
    given === word ? none : orTheWord(word, () => read(given, before === none ? undefined : before))

function orTheWord<T>(word: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    throw new InvalidArgumentError(`${error.message} The word ${word} takes the bound away.`)
  }
}

const longestName = 100

export function readKeyName(given: string): string {
  const name = oneLine(given)
  if (name !== '' && name.length <= longestName) return name
  throw new InvalidArgumentError(`It must have 1 to ${longestName} characters.`)
}

export function readGiven(given: string): string {
  if (given.trim() !== '') return given.trim()
  throw new InvalidArgumentError('It must not be empty.')
}

/** May be repeated or have commas between. */
export function readScopes(given: string, before: Scope[] = []): Scope[] {
  const added = splitList(given).map((word) => {
    if (isScope(word)) return word
    const meant = nearest(word, scopeNames)
    throw new InvalidArgumentError(
      `There is no scope ${word}. ${meant ? `Did you mean ${meant}?` : `Known: ${scopeNames.join(', ')}.`}`,
    )
  })
  return [...new Set([...before, ...added])]
}

export function readDomains(given: string, before: string[] = []): string[] {
  const added = splitList(given).map((word) => {
    const domain = normalDomain(word)
    if (/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain)) return domain
    throw new InvalidArgumentError(`${JSON.stringify(word)} is not a domain.`)
  })
  return [...new Set([...before, ...added])]
}

function readTime(given: string): Date {
  const time = new Date(given)
  if (isDay(given.slice(0, 10)) && !Number.isNaN(time.getTime())) return time
  throw new InvalidArgumentError('It must be an ISO 8601 time, such as 2027-01-31T00:00:00Z.')
}

export function readExpiry(given: string): Date {
  const time = readTime(given)
  if (time > new Date()) return time
  throw new InvalidArgumentError('It must be in the future; posthorn key revoke ends a key now.')
}

/** A day that is in the calendar: of 30 February the machine would make 2 March. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

/** An empty list would be a key that may do nothing. */
function splitList(given: string): string[] {
  const words = given
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
  if (words.length > 0) return words
  throw new InvalidArgumentError('It must not be empty.')
}

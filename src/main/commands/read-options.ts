import { InvalidArgumentError } from 'commander'
import { normalDomain } from '../../features/accounts/usage/spend-sending.ts'
import { nearest } from '../../kernel/nearest.ts'
import { isScope, type Scope, scopeNames } from '../../kernel/scope.ts'

export function readCount(given: string): number {
  if (/^\d{1,9}$/.test(given)) return Number(given)
  throw new InvalidArgumentError('It must be a whole number from 0 to 999999999.')
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

export function readTime(given: string): Date {
  const time = new Date(given)
  if (/^\d{4}-\d\d-\d\d/.test(given) && !Number.isNaN(time.getTime())) return time
  throw new InvalidArgumentError('It must be an ISO 8601 time, such as 2027-01-31T00:00:00Z.')
}

function splitList(given: string): string[] {
  return given
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

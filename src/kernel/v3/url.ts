import { urlOf } from '../location.ts'
import { invalidParameter } from '../refusals.ts'
import { given } from './lenient.ts'

/** Says why nothing can be posted to an address; nothing when it can, or when nobody can tell yet. */
export type CheckTarget = (url: string) => Promise<string | undefined>

export type CallNeeds = { checkTarget: CheckTarget }

/** Asks the resolver, so it is done before any transaction. */
export async function refuseUncallable(
  checkTarget: CheckTarget,
  url: string | null,
  param: string,
): Promise<void> {
  const fault = url === null ? undefined : await checkTarget(url)
  if (fault !== undefined) throw invalidParameter({ message: `${param} cannot be called: ${fault}`, param })
}

/** Null when none is given. */
export function readUrl(text: string | undefined, param: string): string | null {
  const url = given(text)?.trim()
  if (url === undefined) return null
  const isUsable = /^https?:$/.test(urlOf(url)?.protocol ?? '') && !url.includes('\0')
  if (isUsable && url.isWellFormed()) return url
  throw invalidParameter({ message: `${param} must be an http or https address`, param })
}

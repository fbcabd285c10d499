import { invalidParameter } from '../refusals.ts'
import { given } from './lenient.ts'

/** Null when none is given. */
export function readUrl(text: string | undefined, param: string): string | null {
  const url = given(text)?.trim()
  if (url === undefined) return null
  const isUsable = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && !url.includes('\0')
  if (isUsable && url.isWellFormed()) return url
  throw invalidParameter({ message: `${param} must be an http or https address`, param })
}

// Identifiers are time-ordered UUIDs in the database and prefixed words on the wire: msg_0192…
import { uuidv7 } from 'uuidv7'

export const newUuid = uuidv7

const forms = /^[0-9a-f]{32}$/

export function showId(prefix: string, uuid: string): string {
  return `${prefix}_${uuid.replaceAll('-', '')}`
}

/** The UUID behind a shown identifier, or undefined when it is not one of that prefix. */
export function readId(prefix: string, shown: string): string | undefined {
  if (!shown.startsWith(`${prefix}_`)) return undefined
  const hex = shown.slice(prefix.length + 1)
  if (!forms.test(hex)) return undefined
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** The smallest identifier that could have been made at that time. */
export function firstUuidAt(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0').slice(-12)
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

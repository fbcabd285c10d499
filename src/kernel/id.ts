// Identifiers are time-ordered UUIDs in the database and prefixed words on the wire: msg_0192…
import { randomFillSync } from 'node:crypto'
import { V7Generator } from 'uuidv7'

// Random numbers by the thousand: asking for a few at a time is most of what an identifier costs.
const pool = new Uint32Array(1024)
let used = pool.length

const generator = new V7Generator({
  nextUint32() {
    if (used === pool.length) {
      randomFillSync(pool)
      used = 0
    }
    return pool[used++] ?? 0
  },
})

export const newUuid = (): string => generator.generate().toString()

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

import { randomUUID } from 'node:crypto'
import { showId } from '../../kernel/id.ts'

const safe = /^[A-Za-z0-9._:@/+=-]{1,128}$/

/** A caller's own identifier is kept when it is safe to repeat in headers and logs. */
export function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && safe.test(given) ? given : showId('req', randomUUID())
}

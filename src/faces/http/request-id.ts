import { randomBytes } from 'node:crypto'

const safe = /^[A-Za-z0-9._:@/+=-]{1,128}$/

// Unique by the process's own random part and a count: cheaper than random octets for every request.
const processPart = randomBytes(10).toString('hex')
let count = 0

/** A caller's own identifier is kept when it is safe to repeat in headers and logs. */
export function requestIdOf(given: string | string[] | undefined): string {
  if (typeof given === 'string' && safe.test(given)) return given
  count++
  return `req_${processPart}${count.toString(16).padStart(12, '0')}`
}

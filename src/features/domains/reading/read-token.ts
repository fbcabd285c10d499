import type { Dns } from '../../../kernel/ports.ts'
import type { Reading } from './reading.ts'

/** A text among others that shows whose the domain is. */
export async function readToken(dns: Dns, wanted: { host: string; value: string }): Promise<Reading> {
  throw new Error(`not written yet: ${JSON.stringify([dns, wanted])}`)
}

import type { Dns } from '../../../kernel/ports.ts'
import type { Reading } from './reading.ts'

/** Whether mail to the domain can be answered: a From domain that takes none is refused by many. */
export async function readMailHost(dns: Dns, domain: string): Promise<Reading> {
  throw new Error(`not written yet: ${JSON.stringify([dns, domain])}`)
}

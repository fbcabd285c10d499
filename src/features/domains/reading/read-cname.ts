import type { Dns } from '../../../kernel/ports.ts'
import type { Reading } from './reading.ts'

export async function readCname(dns: Dns, wanted: { host: string; target: string }): Promise<Reading> {
  throw new Error(`not written yet: ${JSON.stringify([dns, wanted])}`)
}

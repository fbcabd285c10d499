import type { Dns } from '../../../kernel/ports.ts'
import type { Reading } from './reading.ts'

export type MxWanted = { host: string; exchange: string; priority?: number }

export async function readMx(dns: Dns, wanted: MxWanted): Promise<Reading> {
  throw new Error(`not written yet: ${JSON.stringify([dns, wanted])}`)
}

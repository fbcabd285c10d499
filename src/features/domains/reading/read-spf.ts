import type { Dns } from '../../../kernel/ports.ts'
import type { Reading } from './reading.ts'

export type SpfWanted = { domain: string; include: string[]; ip: string[] }
export type SpfReading = Reading & { lookups: number; policy: string | null }

export async function readSpf(dns: Dns, wanted: SpfWanted): Promise<SpfReading> {
  throw new Error(`not written yet: ${JSON.stringify([dns, wanted])}`)
}

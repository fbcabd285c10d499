import type { Dns } from '../../../kernel/ports.ts'
import type { Reading } from './reading.ts'

export type DmarcPolicy = 'none' | 'quarantine' | 'reject'

export type DmarcReading = Reading & {
  /** What receivers are asked to do with mail of this very domain that fails. */
  policy: DmarcPolicy | null
  /** The domain whose record counts; null: there is none. */
  foundAt: string | null
  alignment: { dkim: 'r' | 's'; spf: 'r' | 's' }
  /** The organisational domain. */
  organisation: string
}

export async function readDmarc(dns: Dns, domain: string): Promise<DmarcReading> {
  throw new Error(`not written yet: ${JSON.stringify([dns, domain])}`)
}

import type { Dns } from '../../../kernel/ports.ts'
import type { Reading } from './reading.ts'

/** `publicKey` is the DER of the public key (SPKI) in base64. */
export type DkimWanted = { domain: string; selector: string; publicKey: string }

export async function readDkim(dns: Dns, wanted: DkimWanted): Promise<Reading> {
  throw new Error(`not written yet: ${JSON.stringify([dns, wanted])}`)
}

// About how many octets a message takes where it is stored, told without writing it.
import type { Address } from '../../kernel/email-address.ts'
import type { Parts } from './queue-messages.ts'

export function partsSize(parts: Parts | undefined): number {
  if (!parts) return 0
  const { html = '', text = '', headers, to, cc = [], replyTo = [] } = parts
  return textsSize([html, text, ...headers.flat()]) + addressesSize([...to, ...cc, ...replyTo])
}

// Each is kept with the names of its fields and quotes around them.
const aroundAddress = 24

const addressesSize = (addresses: Address[]) =>
  addresses.reduce((sum, { email, name = '' }) => sum + aroundAddress + textsSize([email, name]), 0)

export const textsSize = (texts: string[]) => texts.reduce((sum, one) => sum + Buffer.byteLength(one), 0)

// How much a send makes the service hold: all that is written for its versions, and what is stored for its recipients.
import type { Address } from '../../../kernel/email-address.ts'
import { payloadTooLarge } from '../../../kernel/refusals.ts'
import type { Outgoing, Parts } from '../../messages/queue-messages.ts'
import type { PlannedVersion } from './plan-send.ts'

const megabyte = 1024 * 1024
/** `written` is in memory all at once; each recipient's copy is `stored`. */
const most = { written: 128, stored: 512 }

/** Refuses as soon as one version is too many: the others are not even made. */
export function weighed() {
  const sum = { written: 0, stored: 0 }
  return {
    add({ copies }: PlannedVersion): void {
      const [first] = copies
      if (!first) return
      const written = partsSize(first.parts)
      sum.written += written
      sum.stored += copies.length * (written + rowSize(first) + filesSize(first))
      if (sum.written > most.written * megabyte)
        refuse(`The versions are larger than ${most.written} MB together.`)
      if (sum.stored > most.stored * megabyte)
        refuse(`The copies for all recipients are larger than ${most.stored} MB together.`)
    },
    storedBytes: () => sum.stored,
  }
}

function refuse(message: string): never {
  throw payloadTooLarge({ message })
}

const filesSize = ({ attachments }: Outgoing) =>
  attachments.reduce((sum, { content }) => sum + content.length, 0)

function rowSize({ subject, tags, metadata }: Outgoing): number {
  return textsSize([subject, ...tags, ...Object.entries(metadata ?? {}).flat()])
}

function partsSize(parts: Parts | undefined): number {
  if (!parts) return 0
  const { html = '', text = '', headers, to, cc = [], replyTo = [] } = parts
  return textsSize([html, text, ...headers.flat()]) + addressesSize([...to, ...cc, ...replyTo])
}

// Each is kept with the names of its fields and quotes around them.
const aroundAddress = 24

const addressesSize = (addresses: Address[]) =>
  addresses.reduce((sum, { email, name = '' }) => sum + aroundAddress + textsSize([email, name]), 0)

const textsSize = (texts: string[]) => texts.reduce((sum, one) => sum + Buffer.byteLength(one), 0)

// How much a send makes the service hold: all that is written for its versions, and what is stored for its recipients.
import { payloadTooLarge } from '../../kernel/refusals.ts'
import { partsSize, textsSize } from './parts-size.ts'
import type { Outgoing } from './queue-messages.ts'

const megabyte = 1024 * 1024
/** `written` is in memory all at once; each recipient's copy is `stored`. */
const most = { written: 128, stored: 256 }

/** Refuses as soon as one version is too many: the others are not even made. */
export function weighed() {
  const sum = { written: 0, stored: 0 }
  let before: Outgoing['parts']
  return {
    add(copies: Outgoing[]): void {
      const [first] = copies
      if (!first) return
      const written = partsSize(first.parts)
      // A text that versions share is there once.
      sum.written += written - sharedSize(before, first.parts)
      sum.stored += copies.length * (written + rowSize(first) + filesSize(first))
      before = first.parts
      if (sum.written > most.written * megabyte)
        refuse(`The versions are larger than ${most.written} MB together.`)
      if (sum.stored > most.stored * megabyte)
        refuse(`The copies for all recipients are larger than ${most.stored} MB together.`)
    },
    storedBytes: () => sum.stored,
  }
}

function sharedSize(before: Outgoing['parts'], parts: Outgoing['parts']): number {
  const { html = '', text = '' } = parts ?? {}
  return textsSize([before?.html === html ? html : '', before?.text === text ? text : ''])
}

function refuse(message: string): never {
  throw payloadTooLarge({ message })
}

const filesSize = ({ attachments }: Outgoing) =>
  attachments.reduce((sum, { content }) => sum + content.length, 0)

function rowSize({ subject, tags, metadata }: Outgoing): number {
  return textsSize([subject, ...tags, ...Object.entries(metadata ?? {}).flat()])
}

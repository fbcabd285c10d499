// Which recipients of a campaign a file is of.
import { type Counted, clickBits, openBits } from '../../messages/counts/read-counts.ts'
import { type Status, statuses } from '../../messages/model.ts'
import type { Seen } from './queries.ts'

export const recipientsTypes = [
  'all',
  'nonClickers',
  'nonOpeners',
  'clickers',
  'openers',
  'softBounces',
  'hardBounces',
  'unsubscribed',
] as const
export type RecipientsType = (typeof recipientsTypes)[number]

// The bits of messages.seen, beside those of opens and clicks.
const [hardBounce, softBounce, unsubscribe] = [128, 256, 1024]

export function seenOf(type: RecipientsType, counted: Counted): Seen {
  const kinds: Record<RecipientsType, Partial<Seen>> = {
    all: {},
    nonClickers: { none: clickBits(counted) },
    nonOpeners: { none: openBits(counted) },
    clickers: { some: clickBits(counted) },
    openers: { some: openBits(counted) },
    softBounces: { some: softBounce, bounceType: 'soft' },
    hardBounces: { some: hardBounce, bounceType: 'hard' },
    unsubscribed: { some: unsubscribe },
  }
  return { some: 0, none: 0, ...kinds[type] }
}

/** Who was not written to is no recipient; who did not get it could not have opened it. */
export function statusesOf(type: RecipientsType): readonly Status[] {
  if (type === 'all') return ['sent', 'delivered', 'failed']
  return type === 'nonClickers' || type === 'nonOpeners' ? ['sent', 'delivered'] : statuses
}

export const hasReason = (type: RecipientsType) => type === 'softBounces' || type === 'hardBounces'

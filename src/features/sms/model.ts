// What can happen to an SMS, in one word each.

export const eventTypes = [
  'sent',
  'accepted',
  'delivered',
  'soft_bounce',
  'hard_bounce',
  'blocked',
  'rejected',
  'skipped',
  'unsubscribed',
  'replied',
] as const

export type EventType = (typeof eventTypes)[number]

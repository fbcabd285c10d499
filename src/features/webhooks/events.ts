// The words a webhook subscribes with, and what they stand for.

export const types = ['transactional', 'marketing'] as const
/** Those of the channel sms are transactional to the caller and a type of their own here. */
export type WebhookType = (typeof types)[number] | 'sms'

// Each with the type of a message's event that brings it, or `accepted`; null: it is about something else.
const shared = {
  delivered: 'delivery',
  hardBounce: 'bounce',
  softBounce: 'bounce',
  spam: 'complaint',
  opened: 'open',
  click: 'click',
  unsubscribed: 'unsubscribe',
  /** Not the provider's: a sending domain lost its authentication. */
  domainBroken: null,
} as const

export const words: Record<WebhookType, Record<string, string | null>> = {
  transactional: {
    ...shared,
    sent: 'accepted',
    request: 'accepted',
    blocked: 'blocked',
    invalid: 'bounce',
    deferred: 'deferred',
    uniqueOpened: 'open',
  },
  marketing: { ...shared, listAddition: null, contactUpdated: null, contactDeleted: null },
  // Each with the type of an SMS's event that brings it.
  sms: {
    sent: 'sent',
    accepted: 'accepted',
    delivered: 'delivered',
    softBounce: 'soft_bounce',
    hardBounce: 'hard_bounce',
    rejected: 'rejected',
    unsubscribe: 'unsubscribed',
    reply: 'replied',
    blacklisted: 'blocked',
    skip: 'skipped',
    /** The provider's; nobody comes back by SMS here. */
    subscribe: null,
  },
}

export function toldOf(type: WebhookType, events: string[]): string[] {
  return [...new Set(events.flatMap((event) => words[type][event] ?? []))]
}

// Where the payload of an SMS has another word than the subscription.
const smsWords: Record<string, string> = {
  softBounce: 'soft_bounce',
  hardBounce: 'hard_bounce',
  reply: 'replied',
}

export const payloadWordOf = (type: WebhookType, event: string): string | undefined =>
  type === 'sms' ? (smsWords[event] ?? event) : payloadWords[event]

/** What the payload of a test says, for each of the words. */
export const payloadWords: Record<string, string> = {
  sent: 'request',
  request: 'request',
  delivered: 'delivered',
  hardBounce: 'hard_bounce',
  softBounce: 'soft_bounce',
  spam: 'spam',
  opened: 'opened',
  uniqueOpened: 'unique_opened',
  click: 'click',
  blocked: 'blocked',
  invalid: 'invalid_email',
  deferred: 'deferred',
  unsubscribed: 'unsubscribed',
  listAddition: 'list_addition',
  contactUpdated: 'contact_updated',
  contactDeleted: 'contact_deleted',
  domainBroken: 'domain_broken',
}

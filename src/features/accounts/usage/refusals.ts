import { refusal } from '../../../kernel/refusal.ts'

export const senderDomainNotAllowed = refusal({
  code: 'sender_domain_not_allowed',
  kind: 'forbidden',
  message: 'The key may not send from this domain.',
})

export const senderUnverified = refusal({
  code: 'sender_unverified',
  kind: 'invalid',
  message: 'The account sends from proven senders only.',
  v3: { code: 'invalid_parameter' },
})

export const dailyCapReached = refusal({
  code: 'daily_cap_reached',
  kind: 'limited',
  message: 'The daily sending cap of the key is reached.',
  hint: 'Wait until the next day begins (UTC), or use a key with a higher cap.',
  v3: { code: 'not_enough_credits' },
})

export const monthlyQuotaReached = refusal({
  code: 'monthly_quota_reached',
  kind: 'limited',
  message: 'The monthly quota of the account is reached.',
  hint: 'Wait until the next month begins (UTC), or ask for a higher quota.',
  v3: { code: 'not_enough_credits' },
})

/** What the rules of a key and of its account say to whoever sends, or will. */
export const sendingRefusals = [
  senderDomainNotAllowed,
  senderUnverified,
  dailyCapReached,
  monthlyQuotaReached,
]

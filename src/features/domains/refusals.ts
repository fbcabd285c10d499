import { refusal } from '../../kernel/refusal.ts'

export const mostDomains = 500

export const tooManyDomains = refusal({
  code: 'domain_limit_reached',
  kind: 'refused',
  message: `An account has at most ${mostDomains} domains.`,
  hint: 'Delete one that is no longer used.',
})

export const upstreamUnavailable = refusal({
  code: 'upstream_unavailable',
  kind: 'unavailable',
  message: 'The upstream that sends for this domain cannot be asked at the moment.',
  hint: 'Call again later.',
})

export const domainChanged = refusal({
  code: 'domain_changed',
  kind: 'conflict',
  message: 'The domain was declared or deleted by another call at the same time.',
  hint: 'Call again.',
  retryable: true,
})

export const upstreamSigns = refusal({
  code: 'upstream_signs',
  kind: 'refused',
  message: 'The transport in use signs with keys of its own, which it renews by itself.',
})

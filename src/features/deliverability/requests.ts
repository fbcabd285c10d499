// The requests that findings offer. A test holds them against the declared operations.
import type { Ctx } from '../../kernel/ctx.ts'
import { holdsScope, type Scope } from '../../kernel/scope.ts'

type Offered = { method: 'GET' | 'POST' | 'PUT'; path: string; scope: Scope | null }

export const offered = {
  'domain.declare': { method: 'POST', path: '/api/v1/domains', scope: 'domain.write' },
  'domain.verify': { method: 'POST', path: '/api/v1/domains/verify', scope: 'domain.write' },
  'domain.dns': { method: 'GET', path: '/api/v1/domains/{domain}/dns', scope: 'domain.read' },
  'settings.update': { method: 'PUT', path: '/api/v1/settings', scope: 'settings.write' },
  'settings.get': { method: 'GET', path: '/api/v1/settings', scope: 'analytics.read' },
  'email.send': { method: 'POST', path: '/api/v1/transactional/send', scope: 'email.send' },
  'message.list': { method: 'GET', path: '/api/v1/messages', scope: 'email.read_status' },
  'health.get': { method: 'GET', path: '/api/v1/health', scope: null },
  'stats.deliverability': { method: 'GET', path: '/api/v1/stats/deliverability', scope: 'analytics.read' },
  'deliverability.diagnose': {
    method: 'GET',
    path: '/api/v1/deliverability/diagnose',
    scope: 'analytics.read',
  },
  'origin.stop': { method: 'POST', path: '/api/v1/deliverability/origins/stop', scope: 'contacts.write' },
  'v3.campaign.pause': { method: 'POST', path: '/v3/emailCampaigns/{id}/pause', scope: 'email.send' },
  'v3.campaign.update': { method: 'PUT', path: '/v3/emailCampaigns/{id}', scope: 'email.send' },
  'v3.campaign.get': { method: 'GET', path: '/v3/emailCampaigns/{id}', scope: 'email.send' },
  'v3.webhook.update': { method: 'PUT', path: '/v3/webhooks/{id}', scope: 'settings.write' },
  'v3.webhook.get': { method: 'GET', path: '/v3/webhooks/{id}', scope: 'analytics.read' },
} satisfies Record<string, Offered>

export type OfferedName = keyof typeof offered

export type Request = Offered & { operation: OfferedName; body?: unknown; allowed: boolean }

type Filled = { in?: Record<string, string>; query?: Record<string, string>; body?: unknown }

/** Ready to be sent; `allowed` tells whether the calling key may. */
export function requestOf({ caller }: Ctx, operation: OfferedName, filled: Filled = {}): Request {
  const { method, path, scope } = offered[operation]
  const whole = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(filled.in?.[name] ?? ''))
  const query = filled.query ? `?${new URLSearchParams(filled.query)}` : ''
  return {
    operation,
    method,
    path: whole + query,
    scope,
    ...(filled.body === undefined ? {} : { body: filled.body }),
    allowed: holdsScope(caller.scopes, scope),
  }
}

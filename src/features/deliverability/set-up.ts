// Content and set-up: what keeps good messages from good people.
import type { Ctx } from '../../kernel/ctx.ts'
import { listNotices } from '../accounts/notices/queries.ts'
import { readSettings } from '../accounts/settings/settings.ts'
import type { DomainState } from '../domains/domain-states.ts'
import { findUpstreamState } from '../messages/upstream-state-queries.ts'
import type { Finding } from './finding.ts'
import { findWaiting, listBareCampaigns } from './queries.ts'
import { requestOf } from './requests.ts'

/** What the service knows of itself. */
export type Surroundings = { baseUrl: string; transportKind: () => string }

const area = 'content'
const stuckAfterMs = 15 * 60_000
const mostHeld = 10_000
const newestCampaigns = 50

export async function findSetUp(ctx: Ctx, around: Surroundings, domains: DomainState[]): Promise<Finding[]> {
  const verified = domains.filter(({ status }) => status === 'verified')
  return [
    ...captured(ctx, around),
    ...(await failingTransport(ctx, around)),
    ...(await waiting(ctx)),
    ...(await bareCampaigns(ctx)),
    ...(await settings(ctx, around, verified)),
    ...(await silentWebhooks(ctx)),
  ]
}

function captured(ctx: Ctx, { transportKind }: Surroundings): Finding[] {
  if (transportKind() !== 'capture') return []
  return [
    {
      code: 'transport_capture',
      severity: 'warning',
      area,
      domain: null,
      message:
        'Nothing leaves this machine: the transport is capture, which is for trying things out. ' +
        'Whoever runs the service sets POSTHORN_TRANSPORT to send for real.',
      evidence: { transport: 'capture' },
      action: null,
      proof: requestOf(ctx, 'health.get'),
    },
  ]
}

/** What waits for it is put off again and again, so that it is never late. */
async function failingTransport(ctx: Ctx, { transportKind }: Surroundings): Promise<Finding[]> {
  const transport = transportKind()
  const found = transport === 'capture' ? undefined : await findUpstreamState(ctx.db, transport)
  if (!found?.failing) return []
  const forMs = ctx.now.getTime() - found.since.getTime()
  return [
    {
      code: 'transport_failing',
      severity: forMs > stuckAfterMs ? 'critical' : 'warning',
      area,
      domain: null,
      message:
        `For ${Math.max(0, Math.round(forMs / 60_000))} minutes the ${transport} transport has not taken messages; ` +
        'they wait, and leave by themselves when it does. Whoever runs the service should see what it says: ' +
        (found.said ?? 'nothing'),
      evidence: {
        transport,
        since: found.since.toISOString(),
        for_s: Math.max(0, Math.round(forMs / 1000)),
        said: found.said,
      },
      action: null,
      proof: requestOf(ctx, 'health.get'),
    },
  ]
}

async function waiting(ctx: Ctx): Promise<Finding[]> {
  const { oldest_due, held, held_reason } = await findWaiting(ctx.db, ctx.caller.accountId, mostHeld)
  const lateMs = oldest_due ? ctx.now.getTime() - oldest_due.getTime() : 0
  const shared = { area, domain: null, action: null } as const
  const stuck: Finding = {
    ...shared,
    code: 'queue_stuck',
    severity: 'critical',
    message:
      `A message should have left ${Math.round(lateMs / 60_000)} minutes ago and nobody takes it. ` +
      'Whoever runs the service should see that a process with the role worker runs.',
    evidence: { late_s: Math.round(lateMs / 1000), due_at: oldest_due?.toISOString() ?? null },
    proof: requestOf(ctx, 'health.get'),
  }
  const parked: Finding = {
    ...shared,
    code: 'messages_held',
    severity: 'warning',
    message: `${held === mostHeld ? 'More than ' : ''}${held} messages wait: ${held_reason ?? 'no reason is known'}`,
    evidence: { held, reason: held_reason },
    proof: requestOf(ctx, 'message.list', { query: { status: 'held' } }),
  }
  return [...(lateMs > stuckAfterMs ? [stuck] : []), ...(held > 0 ? [parked] : [])]
}

async function bareCampaigns(ctx: Ctx): Promise<Finding[]> {
  const bare = await listBareCampaigns(ctx.db, ctx.caller.accountId, newestCampaigns)
  return bare.map(({ id, name, status, footer }) => ({
    code: 'unsubscribe_link_missing',
    severity: 'warning',
    area,
    domain: null,
    message:
      `The campaign ${name} does not say how to leave. A plain link will be put below it; one in your own words is ` +
      'found sooner than the button that reports spam.',
    evidence: { campaign_id: Number(id), status, unsubscribe_links: 0 },
    action: requestOf(ctx, 'v3.campaign.update', {
      in: { id },
      body: { footer: `${footer ?? ''}[DEFAULT_FOOTER]` },
    }),
    proof: requestOf(ctx, 'v3.campaign.get', { in: { id } }),
  }))
}

async function settings(ctx: Ctx, around: Surroundings, verified: DomainState[]): Promise<Finding[]> {
  const { default_sender, click_tracking, open_tracking } = await readSettings(ctx)
  const [first] = verified
  if (!first) return []
  const host = new URL(around.baseUrl).hostname
  const isOwn = verified.some(({ domain }) => host === domain || host.endsWith(`.${domain}`))
  const isTracked = click_tracking || open_tracking !== 'off'
  const shared = { severity: 'info', area, domain: null, proof: requestOf(ctx, 'settings.get') } as const
  const senderless: Finding = {
    ...shared,
    code: 'default_sender_missing',
    message: 'There is no default sender: messages, automations and reminders without from are refused.',
    evidence: { verified_domains: verified.length },
    action: requestOf(ctx, 'settings.update', {
      body: { default_sender: { email: `hello@${first.domain}` } },
    }),
  }
  const foreign: Finding = {
    ...shared,
    code: 'tracking_domain_foreign',
    message:
      `Links and pixels lead to ${host}, which is none of your domains: some filters mistrust that. Have the service ` +
      'run under a name of your own, or switch tracking off.',
    evidence: { tracking_host: host, click_tracking, open_tracking },
    action: requestOf(ctx, 'settings.update', { body: { click_tracking: false, open_tracking: 'off' } }),
  }
  return [...(default_sender ? [] : [senderless]), ...(isTracked && !isOwn ? [foreign] : [])]
}

const mostNotices = 200

/** As the account was told when they were switched off. */
async function silentWebhooks(ctx: Ctx): Promise<Finding[]> {
  const notices = await listNotices(ctx.db, ctx.caller.accountId, { open: true, limit: mostNotices })
  return notices
    .filter(({ code }) => code === 'webhook_disabled')
    .map(({ subject, message, details, created_at }) => ({
      code: 'webhook_disabled',
      severity: 'warning',
      area,
      domain: null,
      message: `${message} Until then it is told of nothing.`,
      evidence: { ...(details as Record<string, unknown>), since: created_at.toISOString() },
      action: requestOf(ctx, 'v3.webhook.update', { in: { id: subject }, body: {} }),
      proof: requestOf(ctx, 'v3.webhook.get', { in: { id: subject } }),
    }))
}

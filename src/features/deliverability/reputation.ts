// What mailbox providers judge an account by: dead addresses, complaints, refusals. From the counts that are kept.
import type { Ctx } from '../../kernel/ctx.ts'
import { type Days, type DomainRow, readDomainRows } from '../messages/counts/queries.ts'
import { type Counts, readCounts, readCountsBy } from '../messages/counts/read-counts.ts'
import { type Finding, perCent, rateOf, severityOf, thresholds, windowDays, worst } from './finding.ts'
import { listReplies, listRunningCampaigns, type Reply } from './queries.ts'
import { requestOf } from './requests.ts'

const area = 'reputation'
const mostDomains = 200
const mostCampaigns = 20
const newestFailures = 1_000

export async function findReputation(ctx: Ctx, days: Days): Promise<Finding[]> {
  const counts = await readCounts(ctx.db, { accountId: ctx.caller.accountId, ...days })
  return [
    ...ofAccount(ctx, days, counts),
    ...(await ofRecipientDomains(ctx, days)),
    ...(await ofRunningCampaigns(ctx)),
  ]
}

const said = {
  hard_bounces: {
    code: 'hard_bounces_high',
    of: 'went to addresses that do not exist',
    advice: 'Stop the origins and campaigns that they come from, named beside this where they can be told.',
  },
  complaints: {
    code: 'complaints_high',
    of: 'were reported as spam',
    advice: 'Write only to people who asked for it, and make leaving easy.',
  },
} as const

function ofAccount(ctx: Ctx, days: Days, counts: Counts): Finding[] {
  const sent = counts.sent ?? 0
  return (['hard_bounces', 'complaints'] as const).flatMap((kind): Finding[] => {
    const n = counts[kind] ?? 0
    const severity = severityOf(kind, n, sent)
    if (!severity) return []
    const { code, of, advice } = said[kind]
    const { warning, critical } = thresholds[kind]
    return [
      {
        code,
        severity,
        area,
        domain: null,
        message: `${perCent(n, sent)} of the messages of the last ${windowDays} days ${of}. ${advice}`,
        evidence: { sent, [kind]: n, rate: rateOf(n, sent), warning_at: warning, critical_at: critical },
        // What was sent cannot be taken back: better messages push the rate down.
        action: null,
        proof: statistics(ctx, days),
      },
    ]
  })
}

const statistics = (ctx: Ctx, { first = '' }: Days) =>
  requestOf(ctx, 'stats.deliverability', { query: { since: first } })

type Refusing = { row: DomainRow; refused: number; full: number; replies: Reply[] }

/** Soft bounces are refusals of us, not of the address: blocks, policies, limits. Mailboxes that are full are not. */
async function ofRecipientDomains(ctx: Ctx, days: Days): Promise<Finding[]> {
  const { accountId } = ctx.caller
  const rows = await readDomainRows(ctx.db, accountId, days, mostDomains)
  const bouncing = rows.filter((one) => severityOf('blocks', one.soft_bounces, one.sent))
  if (bouncing.length === 0) return []
  const domains = bouncing.map(({ recipient_domain }) => recipient_domain)
  const asked = { domains, newest: newestFailures, since: days.first ?? '-infinity' }
  const found = await listReplies(ctx.db, accountId, asked)
  const said = new Map(found.map((one) => [one.domain, one.replies]))
  return bouncing.flatMap((row) => refusal(ctx, days, refusingOf(row, said.get(row.recipient_domain) ?? [])))
}

function refusingOf(row: DomainRow, replies: Reply[]): Refusing {
  const full = replies.reduce((n, one) => n + (one.class === 'mailbox_full' ? one.count : 0), 0)
  return { row, replies, full, refused: Math.max(0, row.soft_bounces - full) }
}

function refusal(ctx: Ctx, days: Days, { row, refused, full, replies }: Refusing): Finding[] {
  const { recipient_domain, sent, hard_bounces, complaints } = row
  const { warning, critical } = thresholds.blocks
  const severity = severityOf('blocks', refused, sent)
  if (!severity) return []
  return [
    {
      code: 'recipient_domain_blocks',
      severity,
      area,
      domain: null,
      message:
        `${recipient_domain} refused ${perCent(refused, sent)} of the messages of the last ${windowDays} days. ` +
        'Its replies say why: mend authentication first, then send less until it takes mail again.',
      evidence: {
        recipient_domain,
        sent,
        refused,
        rate: rateOf(refused, sent),
        full_mailboxes: full,
        hard_bounces,
        complaints,
        warning_at: warning,
        critical_at: critical,
        replies: replies.slice(0, 3),
      },
      action: null,
      proof: statistics(ctx, days),
    },
  ]
}

/** What does harm at this moment can be stopped at this moment. */
async function ofRunningCampaigns(ctx: Ctx): Promise<Finding[]> {
  const { accountId } = ctx.caller
  const running = await listRunningCampaigns(ctx.db, accountId, mostCampaigns)
  if (running.length === 0) return []
  const campaignIds = running.map(({ id }) => id)
  const counts = await readCountsBy(ctx.db, { accountId, campaignIds }, 'campaign')
  return running.flatMap(({ id, name }): Finding[] => {
    const { sent = 0, hard_bounces = 0, complaints = 0 } = counts.get(id) ?? {}
    const severity = worst([
      severityOf('hard_bounces', hard_bounces, sent),
      severityOf('complaints', complaints, sent),
    ])
    if (!severity) return []
    const rates = `${perCent(hard_bounces, sent)} hard bounces and ${perCent(complaints, sent)} complaints`
    return [
      {
        code: 'campaign_hurts',
        severity,
        area,
        domain: null,
        message: `The campaign ${name}, which is being sent, has ${rates}: interrupt it and look at its recipients.`,
        evidence: {
          campaign_id: Number(id),
          sent,
          hard_bounces,
          hard_bounce_rate: rateOf(hard_bounces, sent),
          complaints,
          complaint_rate: rateOf(complaints, sent),
        },
        action: requestOf(ctx, 'v3.campaign.pause', { in: { id } }),
        proof: requestOf(ctx, 'v3.campaign.get', { in: { id } }),
      },
    ]
  })
}

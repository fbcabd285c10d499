// The provider's report on the two versions of an A/B test.
import type { Ctx } from '../../kernel/ctx.ts'
import { invalidParameter } from '../../kernel/refusals.ts'
import { readSettings } from '../accounts/settings/settings.ts'
import { reachedOf } from '../messages/counts/rates.ts'
import { countedBy } from '../messages/counts/read-counts.ts'
import { readVersions, type VersionRow } from './ab-test-queries.ts'
import { type CampaignRow, inForce } from './campaign-row.ts'
import { readCampaign, refOf } from './write-campaign.ts'

export const winningVersions = ['notAvailable', 'pending', 'tie', 'A', 'B'] as const

export async function abTestResult(ctx: Ctx, id: number) {
  const campaign = await readCampaign(ctx, id)
  const { ab_test } = campaign
  if (!ab_test) throw invalidParameter({ message: 'The campaign is no A/B test', param: 'id' })
  const found = await readVersions(ctx.db, refOf(ctx, id), countedBy(await readSettings(ctx)))
  const [a, b] = [versionOf(found, 'A'), versionOf(found, 'B')]
  const both = (figure: (version: VersionRow) => string) => ({
    'Version A': figure(a),
    'Version B': figure(b),
  })
  const rate = (name: Figure) => both((version) => percent(version[name], reachedOf(version)))
  const ofSent = (name: Figure) => both((version) => percent(version[name], version.sent))
  const figure = ab_test.winnerCriteria === 'click' ? 'clickers' : 'openers'
  const winner = winnerOf(campaign, [a, b], figure)
  const best = winner === 'B' ? b : a
  return {
    winningVersion: winner,
    winningCriteria: figure === 'clickers' ? 'Click' : 'Open',
    winningSubjectLine: winner === 'A' ? ab_test.subjectA : winner === 'B' ? ab_test.subjectB : '',
    openRate: percent(best.openers, reachedOf(best)),
    clickRate: percent(best.clickers, reachedOf(best)),
    winningVersionRate: percent(best[figure], reachedOf(best)),
    statistics: {
      openers: rate('openers'),
      clicks: rate('clickers'),
      unsubscribed: rate('unsubscribed'),
      hardBounces: ofSent('hard_bounces'),
      softBounces: ofSent('soft_bounces'),
      complaints: rate('complaints'),
    },
    clickedLinks: { 'Version A': clicked(a), 'Version B': clicked(b) },
  }
}

type Figure = 'openers' | 'clickers' | 'unsubscribed' | 'hard_bounces' | 'soft_bounces' | 'complaints'

function clicked({ links }: VersionRow) {
  const total = links.reduce((sum, { clicksCount }) => sum + clicksCount, 0)
  return links.map((one) => ({ ...one, clickRate: percent(one.clicksCount, total) }))
}

const percent = (count: number, of: number) => `${of === 0 ? 0 : Math.round((count * 10_000) / of) / 100}%`

function versionOf(found: VersionRow[], variant: string): VersionRow {
  return (
    found.find((one) => one.variant === variant) ?? {
      variant,
      sent: 0,
      delivered: 0,
      bounced: 0,
      openers: 0,
      clickers: 0,
      unsubscribed: 0,
      hard_bounces: 0,
      soft_bounces: 0,
      complaints: 0,
      links: [],
    }
  )
}

/** Where nobody waits for it, the better of the two. One that was cancelled before has none, and never will. */
function winnerOf(
  campaign: CampaignRow,
  versions: [VersionRow, VersionRow],
  figure: Figure,
): (typeof winningVersions)[number] {
  if (campaign.started_at === null) return 'notAvailable'
  if (campaign.winner) return campaign.winner
  const status = inForce(campaign)
  if (status !== 'sent') return status === 'cancelled' ? 'notAvailable' : 'pending'
  const [rateA, rateB] = versions.map((one) => one[figure] / Math.max(1, reachedOf(one)))
  if (rateA === rateB) return 'tie'
  return (rateA ?? 0) > (rateB ?? 0) ? 'A' : 'B'
}

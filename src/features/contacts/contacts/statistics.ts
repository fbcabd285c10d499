// What campaigns did with a contact, in the provider's shape: only what there is.
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { closed, Time } from '../../../kernel/schema.ts'
import { type Range, rangeQuery, readRangeOrDays } from '../../../kernel/v3/dates.ts'
import { readSettings } from '../../accounts/settings/settings.ts'
import { ownSources } from '../unsubscribe/unsubscribe.ts'
import { type ActivityRow, listUnsubscribed, readActivity } from './statistics-queries.ts'

export const statisticsQuery = rangeQuery

const once = { campaignId: Type.Integer(), eventTime: Time }
const Once = Type.Optional(Type.Array(closed(once)))
// The clients know no null here, and want the first.
const seen = { count: Type.Integer(), eventTime: Time, ip: Type.String() }
const left = { eventTime: Time, ip: Type.Optional(Type.String()) }

export const ContactStatistics = closed({
  messagesSent: Once,
  delivered: Once,
  opened: Type.Optional(Type.Array(closed({ campaignId: Type.Integer(), ...seen }))),
  clicked: Type.Optional(
    Type.Array(
      closed({
        campaignId: Type.Integer(),
        links: Type.Array(closed({ url: Type.String(), ...seen })),
      }),
    ),
  ),
  hardBounces: Once,
  softBounces: Once,
  complaints: Once,
  unsubscriptions: Type.Optional(
    closed({
      userUnsubscription: Type.Array(closed({ campaignId: Type.Integer(), ...left })),
      adminUnsubscription: Type.Array(closed(left)),
    }),
  ),
})

export type ContactStatistics = Static<typeof ContactStatistics>

const usual = 90
const most = 730

export function readStatisticsRange(ctx: Ctx, asked: { startDate?: string; endDate?: string }): Range {
  return readRangeOrDays(ctx, asked, { usual, most })
}

export async function statisticsOf(ctx: Ctx, contactId: string, range: Range): Promise<ContactStatistics> {
  const settings = await readSettings(ctx)
  const uncounted = { robots: settings.exclude_robot_activity, proxies: settings.exclude_privacy_proxy_opens }
  const who = { accountId: ctx.caller.accountId, contactId }
  const rows = await readActivity(ctx.db, who, range, uncounted)
  const byAccount = await listUnsubscribed(ctx.db, who, range, ownSources)
  const of = (type: string, bounce: string | null = null) =>
    rows.filter((row) => row.type === type && (bounce === null || (row.bounce_type ?? 'soft') === bounce))
  return {
    ...named('messagesSent', of('sent').map(onceOf)),
    ...named('delivered', of('delivery').map(onceOf)),
    ...named(
      'opened',
      of('open').map((row) => ({ campaignId: Number(row.campaign_id), ...seenOf(row) })),
    ),
    ...named('clicked', clicksOf(of('click'))),
    ...named('hardBounces', of('bounce', 'hard').map(onceOf)),
    ...named('softBounces', of('bounce', 'soft').map(onceOf)),
    ...named('complaints', of('complaint').map(onceOf)),
    ...leftOf(of('unsubscribe'), byAccount),
  }
}

const named = <T>(name: string, found: T[]) => (found.length > 0 ? { [name]: found } : {})
const onceOf = ({ campaign_id, at }: ActivityRow) => ({
  campaignId: Number(campaign_id),
  eventTime: at.toISOString(),
})
const seenOf = ({ count, at, ip }: ActivityRow) => ({ count, eventTime: at.toISOString(), ip: ip ?? '' })

function clicksOf(rows: ActivityRow[]) {
  const campaigns = [...new Set(rows.map(({ campaign_id }) => campaign_id))]
  return campaigns.map((id) => ({
    campaignId: Number(id),
    links: rows
      .filter(({ campaign_id }) => campaign_id === id)
      .map((row) => ({ url: row.url ?? '', ...seenOf(row) })),
  }))
}

function leftOf(rows: ActivityRow[], byAccount: { at: Date }[]): Pick<ContactStatistics, 'unsubscriptions'> {
  if (rows.length + byAccount.length === 0) return {}
  const userUnsubscription = rows.map((row) => ({ ...onceOf(row), ...(row.ip !== null && { ip: row.ip }) }))
  const adminUnsubscription = byAccount.map(({ at }) => ({ eventTime: at.toISOString() }))
  return { unsubscriptions: { userUnsubscription, adminUnsubscription } }
}

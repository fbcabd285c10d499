import { Type } from 'typebox'
import { operation } from '../../kernel/operation.ts'
import { notFound } from '../../kernel/refusals.ts'
import { closed, orNull } from '../../kernel/schema.ts'
import {
  mostDomains,
  readCampaignStats,
  readCohorts,
  readDeliverability,
  readEngagement,
  readRevenue,
} from './read-statistics.ts'
import { readWindow, Window, windowQuery } from './window.ts'

const Count = Type.Integer()
const Text = Type.String()
const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const Rate = orNull(Type.Number({ description: 'Between 0 and 1; null: of nothing, or nobody tells' }))
const Seen = closed({ total: Count, unique: Type.Integer({ description: 'Messages' }) })
const Filtered = closed(
  { privacy_proxy_opens: Count, robot_opens: Count, robot_clicks: Count },
  { description: 'What the account’s filters took out' },
)
const Money = { amount: Type.Number(), count: Count, currency: Text }

const shared = { scope: 'analytics.read', effect: 'read' } as const
const ofAccount = { ...shared, area: 'Deliverability' } as const

export const getCohorts = operation({
  ...ofAccount,
  name: 'stats.cohorts',
  http: 'GET /api/v1/stats/cohorts',
  summary: 'What became of each month’s messages',
  query: closed(windowQuery),
  reply: closed({
    window: Window,
    data: Type.Array(
      closed({
        month: Type.String({ pattern: '^\\d{4}-\\d{2}$' }),
        sent: Count,
        delivered: Count,
        opened: Count,
        clicked: Count,
        unsubscribed: Count,
        bounced: Count,
        complained: Count,
      }),
    ),
  }),
}).run(async (ctx, { query }) => {
  const window = readWindow(query)
  return { window: window.shown, data: await readCohorts(ctx, window) }
})

export const getDeliverabilityStats = operation({
  ...ofAccount,
  name: 'stats.deliverability',
  http: 'GET /api/v1/stats/deliverability',
  summary: 'Deliveries and bounces by recipient domain',
  description: `The ${mostDomains} domains that most was sent to, those first.`,
  query: closed(windowQuery),
  reply: closed({
    window: Window,
    data: Type.Array(
      closed({
        recipient_domain: Text,
        sent: Count,
        delivered: Count,
        hard_bounces: Count,
        soft_bounces: Count,
        complaints: Count,
        delivery_rate: Rate,
      }),
    ),
  }),
}).run(async (ctx, { query }) => {
  const window = readWindow(query)
  return { window: window.shown, data: await readDeliverability(ctx, window) }
})

const filters = {
  listId: Type.Optional(Id),
  tag: Type.Optional(Type.String({ maxLength: 255 })),
  source: Type.Optional(Type.String({ maxLength: 1000, description: 'Where the consent came from' })),
}

export const getEngagement = operation({
  ...ofAccount,
  name: 'stats.engagement',
  http: 'GET /api/v1/stats/engagement',
  summary: 'Opens, clicks and unsubscriptions',
  description: 'Of the whole account, or of what a list, a tag or a consent source brought.',
  query: closed({ ...windowQuery, ...filters }),
  reply: closed({
    window: Window,
    filters: closed(filters),
    sent: Count,
    delivered: Count,
    opens: Seen,
    clicks: Seen,
    unsubscriptions: Count,
    filtered: Filtered,
  }),
}).run(async (ctx, { query: { since, until, ...filter } }) => {
  const window = readWindow({ since, until })
  return { window: window.shown, filters: filter, ...(await readEngagement(ctx, window, filter)) }
})

export const getRevenue = operation({
  ...ofAccount,
  name: 'stats.revenue',
  http: 'GET /api/v1/stats/revenue',
  summary: 'Sums of conversions by campaign and currency',
  query: closed(windowQuery),
  reply: closed({
    window: Window,
    data: Type.Array(
      closed({
        campaign_id: orNull(Type.Integer({ description: 'null: no campaign preceded it' })),
        campaign_name: orNull(Text),
        ...Money,
      }),
    ),
  }),
}).run(async (ctx, { query }) => {
  const window = readWindow(query)
  return { window: window.shown, data: await readRevenue(ctx, window) }
})

export const getCampaignStats = operation({
  ...shared,
  area: 'Campaigns',
  name: 'campaign.stats',
  http: 'GET /api/v1/campaigns/{id}/stats',
  summary: 'What became of a campaign’s messages',
  params: closed({ id: Id }),
  refusals: [notFound],
  reply: closed({
    campaign_id: Id,
    status: Text,
    recipients: Count,
    sent: Count,
    delivered: Count,
    hard_bounces: Count,
    soft_bounces: Count,
    complaints: Count,
    unsubscriptions: Count,
    opens: Seen,
    clicks: Seen,
    filtered: Filtered,
    rates: closed({
      delivery: Rate,
      bounce: Rate,
      open: Rate,
      click: Rate,
      click_to_open: Rate,
      unsubscription: Rate,
      complaint: Rate,
    }),
    revenue: closed(
      { ...Money, currency: orNull(Text) },
      { description: 'In the currency of most conversions' },
    ),
    revenue_by_currency: Type.Array(closed(Money)),
    conversions: closed({ purchase: Count, signup: Count }, { description: 'With an amount or without' }),
  }),
}).run((ctx, { params }) => readCampaignStats(ctx, params.id))

// What became of a campaign.
import { Type } from 'typebox'
import { type Operation, operation } from '../../kernel/operation.ts'
import { notFound } from '../../kernel/refusals.ts'
import { closed, words } from '../../kernel/schema.ts'
import { outOfRange } from '../../kernel/v3/refusals.ts'
import { abTestResult, winningVersions } from './ab-test-result.ts'
import { params } from './api.v3.ts'
import { shareLinks } from './list-campaigns.ts'
import { pageOfRecipients, RecipientsPage, RecipientsQuery } from './list-recipients.ts'
import type { LinkSource } from './send-test.ts'
import { Statistics, wholeStatistics } from './statistics.ts'
import { blocks } from './statistics-queries.ts'
import { readCampaign } from './write-campaign.ts'

const shared = { area: 'Campaigns', scope: 'analytics.read', effect: 'read', params } as const

export const getCampaignStatisticsV3 = operation({
  ...shared,
  name: 'campaign.statistics',
  http: 'GET /v3/emailCampaigns/{id}/statistics',
  summary: 'All figures of a campaign',
  reply: Statistics,
  refusals: [notFound],
}).run(
  async (ctx, { params: { id } }) =>
    (await wholeStatistics(ctx, await readCampaign(ctx, id), blocks)).statistics,
)

export const listCampaignRecipientsV3 = operation({
  ...shared,
  name: 'campaign.recipients',
  http: 'GET /v3/emailCampaigns/{id}/recipients',
  summary: 'The recipients of a campaign, each with status and events',
  query: RecipientsQuery,
  reply: RecipientsPage,
  refusals: [notFound, outOfRange],
}).run((ctx, { params: { id }, query }) => pageOfRecipients(ctx, id, query))

export const getSharedUrlV3 = (links: LinkSource): Operation =>
  operation({
    ...shared,
    scope: 'email.send',
    name: 'campaign.shared_url',
    http: 'GET /v3/emailCampaigns/{id}/sharedUrl',
    summary: 'The page of a campaign for anybody, with nobody’s data in it',
    reply: closed({ sharedUrl: Type.String() }),
    refusals: [notFound],
  }).run(async (ctx, { params: { id } }) => {
    const found = await readCampaign(ctx, id)
    return { sharedUrl: (await shareLinks(ctx, links))(found.id) }
  })

const Share = Type.Record(Type.String(), Type.String())
const ClickedLink = closed({
  link: Type.String(),
  clicksCount: Type.Integer(),
  clickRate: Type.String({ description: 'Of all clicks on the version' }),
})

export const getAbTestResultV3 = operation({
  ...shared,
  name: 'campaign.ab_test',
  http: 'GET /v3/emailCampaigns/{id}/abTestCampaignResult',
  summary: 'How the versions of an A/B test did',
  reply: closed({
    winningVersion: words(winningVersions),
    winningCriteria: Type.String(),
    winningSubjectLine: Type.String(),
    openRate: Type.String({ description: 'Of the better version' }),
    clickRate: Type.String({ description: 'Of the better version' }),
    winningVersionRate: Type.String(),
    statistics: closed({
      openers: Share,
      clicks: Share,
      unsubscribed: Share,
      hardBounces: Share,
      softBounces: Share,
      complaints: Share,
    }),
    clickedLinks: closed({
      'Version A': Type.Array(ClickedLink),
      'Version B': Type.Array(ClickedLink),
    }),
  }),
  refusals: [notFound],
}).run((ctx, { params: { id } }) => abTestResult(ctx, id))

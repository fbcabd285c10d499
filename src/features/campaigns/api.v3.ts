// Campaigns as the provider has them: list, create, read, change, delete.
import { Type } from 'typebox'
import { type Operation, operation } from '../../kernel/operation.ts'
import { notFound } from '../../kernel/refusals.ts'
import { closed, orNull, words } from '../../kernel/schema.ts'
import { rangeQuery } from '../../kernel/v3/dates.ts'
import { listQuery } from '../../kernel/v3/paging.ts'
import { outOfRange } from '../../kernel/v3/refusals.ts'
import { sendingRefusals } from '../accounts/usage/refusals.ts'
import { templateInvalid } from '../messages/refusals.ts'
import type { FetchAttachment } from '../transactional/v3/attachments.ts'
import { fetchHtml } from '../transactional/v3/fetch-html.ts'
import { CampaignBody, secretFields } from './body.ts'
import { campaignStatusWords, pageOfCampaigns, readShown } from './list-campaigns.ts'
import { refuseShortHtml } from './read-content.ts'
import { campaignProcessing, campaignSent } from './refusals.ts'
import type { LinkSource } from './send-test.ts'
import { CampaignShown } from './show-campaign.ts'
import { statisticsWords } from './statistics.ts'
import { changeCampaign, createCampaign, removeCampaign } from './write-campaign.ts'

const shared = { area: 'Campaigns', scope: 'email.send' } as const
// What no identifier can be reaches no statement.
export const params = closed({ id: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) })
const maxBodyBytes = 5 * 1024 * 1024

const which = {
  statistics: Type.Optional(words(statisticsWords, { description: 'Which block is filled' })),
  excludeHtmlContent: Type.Optional(Type.Boolean({ description: 'htmlContent is then empty' })),
}

export const listCampaignsV3 = (links: LinkSource): Operation =>
  operation({
    ...shared,
    name: 'campaign.list',
    http: 'GET /v3/emailCampaigns',
    summary: 'List campaigns, newest first',
    effect: 'read',
    query: closed({
      type: Type.Optional(words(['classic', 'trigger'])),
      status: Type.Optional(words(campaignStatusWords)),
      ...rangeQuery,
      ...which,
      ...listQuery,
    }),
    reply: closed({
      count: Type.Integer(),
      campaigns: Type.Array(CampaignShown),
      next_cursor: orNull(Type.String()),
    }),
    refusals: [outOfRange],
  }).run((ctx, { query }) => pageOfCampaigns(ctx, query, links))

type Fetching = { fetchAttachment: FetchAttachment }

export const createCampaignV3 = ({ fetchAttachment }: Fetching): Operation =>
  operation({
    ...shared,
    name: 'campaign.create',
    http: 'POST /v3/emailCampaigns',
    needs: ['name'],
    summary: 'Create a campaign',
    description: 'A draft; with scheduledAt it waits for that time and then goes to its whole lists.',
    effect: 'change',
    body: CampaignBody,
    maxBodyBytes,
    secret: secretFields,
    status: 201,
    reply: closed({ id: Type.Integer() }),
    refusals: [templateInvalid, ...sendingRefusals],
    prepare: async (_ctx, input) => ({ ...input, body: await fetchHtml(fetchAttachment, input.body) }),
  }).run(async (ctx, { body }) => {
    refuseShortHtml(body)
    return { id: await createCampaign(ctx, body) }
  })

export const getCampaignV3 = (links: LinkSource): Operation =>
  operation({
    ...shared,
    name: 'campaign.get',
    http: 'GET /v3/emailCampaigns/{id}',
    summary: 'Read a campaign, with what became of its recipients',
    effect: 'read',
    params,
    query: closed(which),
    reply: CampaignShown,
    refusals: [notFound],
  }).run((ctx, { params: { id }, query }) => readShown(ctx, id, query, links))

export const updateCampaignV3 = ({ fetchAttachment }: Fetching): Operation =>
  operation({
    ...shared,
    name: 'campaign.update',
    http: 'PUT /v3/emailCampaigns/{id}',
    summary: 'Change a campaign that has not been sent',
    effect: 'change',
    params,
    body: CampaignBody,
    maxBodyBytes,
    secret: secretFields,
    status: 204,
    reply: Type.Null(),
    refusals: [notFound, templateInvalid, campaignProcessing, campaignSent, ...sendingRefusals],
    prepare: async (_ctx, input) => ({ ...input, body: await fetchHtml(fetchAttachment, input.body) }),
  }).run(async (ctx, { params: { id }, body }) => {
    refuseShortHtml(body)
    await changeCampaign(ctx, id, body)
    return null
  })

export const deleteCampaignV3 = operation({
  ...shared,
  name: 'campaign.delete',
  http: 'DELETE /v3/emailCampaigns/{id}',
  summary: 'Delete a campaign that is not being sent; its messages stay',
  effect: 'irreversible',
  params,
  status: 204,
  reply: Type.Null(),
  refusals: [notFound, campaignProcessing],
}).run(async (ctx, { params: { id } }) => {
  await removeCampaign(ctx, id)
  return null
})

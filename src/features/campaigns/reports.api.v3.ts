// What became of a campaign, as a file or as a message.
import { Type } from 'typebox'
import { operation } from '../../kernel/operation.ts'
import { notFound } from '../../kernel/refusals.ts'
import { closed, words } from '../../kernel/schema.ts'
import { type CallNeeds, readUrl, refuseUncallable } from '../../kernel/v3/url.ts'
import {
  dailyCapReached,
  monthlyQuotaReached,
  senderDomainNotAllowed,
  senderUnverified,
} from '../accounts/usage/refusals.ts'
import { recipientSuppressed } from '../messages/refusals.ts'
import { params } from './api.v3.ts'
import { recipientsTypes } from './recipient-export/kinds.ts'
import { startRecipientExport } from './recipient-export/start-export.ts'
import { ReportBody, sendReport } from './report/send-report.ts'

export const exportRecipientsV3 = ({ checkTarget }: CallNeeds) =>
  operation({
    name: 'campaign.export_recipients',
    http: 'POST /v3/emailCampaigns/{id}/exportRecipients',
    area: 'Campaigns',
    summary: 'Export recipients of a campaign as a CSV file, in the background',
    description:
      'GET /v3/processes/{processId} shows export_url when the file is ready. Whoever knows that address can fetch ' +
      'it, without a key, for 7 days; then it is deleted. Opens and clicks count by the filters of the account.',
    // It changes nothing but gives people away: a key that may read contacts may export them.
    scope: 'contacts.read',
    effect: 'change',
    params,
    body: closed({
      recipientsType: words(recipientsTypes),
      notifyURL: Type.Optional(Type.String({ maxLength: 2_048, description: 'Told when the file is ready' })),
    }),
    secret: ['notifyURL'],
    status: 202,
    reply: closed({ processId: Type.Integer() }),
    refusals: [notFound],
    prepare: async (_ctx, input) => {
      await refuseUncallable(checkTarget, readUrl(input.body.notifyURL, 'notifyURL'), 'notifyURL')
      return input
    },
  }).run(async (ctx, { params: { id }, body }) => ({ processId: await startRecipientExport(ctx, id, body) }))

export const sendReportV3 = operation({
  name: 'campaign.send_report',
  http: 'POST /v3/emailCampaigns/{id}/sendReport',
  needs: ['email'],
  area: 'Campaigns',
  summary: 'Send the figures of a campaign to its authors',
  description: 'Of a campaign that was sent or is being sent, from its sender.',
  scope: 'email.send',
  effect: 'irreversible',
  perMinute: 20,
  params,
  body: ReportBody,
  secret: ['email'],
  status: 204,
  reply: Type.Null(),
  refusals: [
    notFound,
    recipientSuppressed,
    senderDomainNotAllowed,
    senderUnverified,
    dailyCapReached,
    monthlyQuotaReached,
  ],
}).run(async (ctx, { params: { id }, body }) => {
  await sendReport(ctx, id, body)
  return null
})

import { Type } from 'typebox'
import { type Operation, operation } from '../../kernel/operation.ts'
import { line, tag } from '../../kernel/patterns.ts'
import { confirmationRequired, conflict, notFound } from '../../kernel/refusals.ts'
import { closed, Time, words } from '../../kernel/schema.ts'
import { sendingRefusals } from '../accounts/usage/refusals.ts'
import { contentMissing, templateInvalid } from '../messages/refusals.ts'
import { inOwnWords } from './own-words.ts'
import { faultsOfPreview, preview } from './preview.ts'
import { marketingUnsupported } from './refusals.ts'
import { faultsOfInline, sendCampaign } from './send-campaign.ts'
import type { LinkSource } from './send-test.ts'

const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const Subject = Type.String({ maxLength: 2000, pattern: line })
const Mailbox = Type.Union([
  Type.String({ format: 'mailbox', maxLength: 600 }),
  closed({
    email: Type.String({ format: 'email', maxLength: 320 }),
    name: Type.Optional(Type.String({ maxLength: 200, pattern: line })),
  }),
])

const shared = { area: 'Campaigns', scope: 'email.send', maxBodyBytes: 5 * 1024 * 1024 } as const

export const sendCampaignOwn = operation({
  ...shared,
  name: 'campaign.send',
  http: 'POST /api/v1/campaigns/send',
  summary: 'Send a campaign to a whole list',
  description:
    'One that exists, by campaign_id, or one given with the call. Without confirm: true nothing is sent, and the ' +
    'refusal tells how many would get it. Until it has left, campaign.pause (POST /api/v1/campaigns/{id}/pause) ' +
    'interrupts it and campaign.cancel ends it, also one that waits for scheduled_at.',
  effect: 'irreversible',
  perMinute: 10,
  idempotent: true,
  body: closed({
    campaign_id: Type.Optional(Id),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 255, pattern: line })),
    subject: Type.Optional(Subject),
    from: Type.Optional(Mailbox),
    html: Type.Optional(Type.String()),
    template_id: Type.Optional(Id),
    list_id: Type.Optional(Id),
    tag: Type.Optional(Type.String({ pattern: tag })),
    reply_to: Type.Optional(Mailbox),
    scheduled_at: Type.Optional(Time),
    confirm: Type.Optional(Type.Boolean()),
  }),
  secret: ['subject', 'html'],
  findFaults: (ctx, body, faulty) =>
    body.campaign_id === undefined && !faulty.has('campaign_id') ? faultsOfInline(ctx, body, faulty) : [],
  status: 202,
  reply: closed({
    campaign_id: Type.Integer(),
    status: words(['in_process', 'queued']),
    recipients: closed({
      total: Type.Integer(),
      sendable: Type.Integer(),
      suppressed: Type.Integer(),
      unsubscribed: Type.Integer(),
    }),
  }),
  refusals: [
    notFound,
    conflict,
    confirmationRequired,
    contentMissing,
    templateInvalid,
    marketingUnsupported,
    ...sendingRefusals,
  ],
}).run((ctx, { body }) => sendCampaign(ctx, body))

export const previewCampaignOwn = (links: LinkSource): Operation =>
  operation({
    ...shared,
    name: 'campaign.preview',
    http: 'POST /api/v1/campaigns/preview',
    summary: 'What a contact would get, with all variables merged',
    description: 'Sends nothing. missing_variables are those that would leave a hole.',
    effect: 'dry',
    body: closed({
      html: Type.Optional(Type.String({ maxLength: 1_000_000 })),
      template_id: Type.Optional(Id),
      campaign_id: Type.Optional(Id),
      subject: Type.Optional(Subject),
      contact: Type.Optional(
        Type.Union([Type.String({ maxLength: 320 }), Id], { description: 'Address or identifier' }),
      ),
      params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
    secret: ['subject', 'html', 'params'],
    findFaults: faultsOfPreview,
    reply: closed({
      subject: Type.String(),
      html: Type.String(),
      text: Type.String(),
      missing_variables: Type.Array(Type.String()),
    }),
    refusals: [notFound, contentMissing, templateInvalid],
  }).run((ctx, { body }) => inOwnWords(body, () => preview(ctx, body, links)))

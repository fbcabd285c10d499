import { Type } from 'typebox'
import { refusalsOf } from '../../../kernel/collect.ts'
import { answer, operation } from '../../../kernel/operation.ts'
import { closed, orNull, Time, words } from '../../../kernel/schema.ts'
import { readAll, recordConversion } from './record-conversion.ts'

export const CampaignId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

export const createConversion = operation({
  name: 'campaign.conversion',
  http: 'POST /api/v1/campaigns/conversion',
  area: 'Campaigns',
  summary: 'Put a purchase or a sign-up down to the campaign before it',
  description:
    'Without campaign_id: the campaign that the address clicked last, or else that was delivered (or sent without ' +
    'a bounce) to it last, in the 30 days before. The same external_id twice counts once, and is answered with 200.',
  scope: null,
  effect: 'change',
  body: closed({
    email: Type.String({ maxLength: 320 }),
    type: Type.Optional(words(['purchase', 'signup'], { description: 'purchase unless given' })),
    amount: Type.Optional(
      Type.Union([Type.Number(), Type.String({ maxLength: 40 })], { description: 'Needed by a purchase' }),
    ),
    currency: Type.Optional(Type.String({ maxLength: 10, description: 'ISO 4217; EUR unless given' })),
    at: Type.Optional(Time),
    external_id: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    campaign_id: Type.Optional(CampaignId),
  }),
  findFaults: (ctx, body) => refusalsOf(() => readAll(ctx, body)),
  status: [201, 200],
  reply: closed({
    conversion_id: Type.String(),
    campaign_id: orNull(Type.Integer()),
    attributed_by: orNull(words(['explicit', 'click', 'delivery'])),
  }),
}).run(async (ctx, { body }) => {
  const { isNew, conversion } = await recordConversion(ctx, body)
  const { id, campaign_id, attributed_by } = conversion
  return answer(isNew ? 201 : 200, {
    conversion_id: `cnv_${id}`,
    campaign_id: campaign_id === null ? null : Number(campaign_id),
    attributed_by,
  })
})

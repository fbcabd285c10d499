import { Type } from 'typebox'
import { answer, operation } from '../../../kernel/operation.ts'
import { closed } from '../../../kernel/schema.ts'
import { given, optional } from '../../../kernel/v3/lenient.ts'
import { CampaignId } from './api.own.ts'
import { recordConversion } from './record-conversion.ts'

const text = (maxLength: number) => optional(Type.String({ maxLength }))
const textOf = (value: string | null | undefined) => given(value ?? undefined)

export const createConversionV3 = operation({
  name: 'campaign.conversion',
  http: 'POST /v3/conversions',
  area: 'Events',
  summary: 'Report what a contact spent',
  scope: 'events.write',
  effect: 'change',
  body: closed({
    email: Type.String({ maxLength: 320 }),
    // Not read as the other numbers of a body: null, true and a blank would become sums of money.
    amount: Type.Unsafe<unknown>({ description: 'A number, or decimal text' }),
    currency: text(10),
    campaign_id: optional(CampaignId),
    external_id: text(255),
  }),
  status: [201, 200],
  reply: closed({ id: Type.Integer() }),
}).run(async (ctx, { body }) => {
  const { isNew, conversion } = await recordConversion(ctx, {
    email: body.email,
    amount: body.amount,
    currency: textOf(body.currency),
    campaign_id: body.campaign_id ?? undefined,
    external_id: textOf(body.external_id),
  })
  return answer(isNew ? 201 : 200, { id: Number(conversion.id) })
})

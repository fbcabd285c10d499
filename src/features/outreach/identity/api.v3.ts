import { Type } from 'typebox'
import { operation } from '../../../kernel/operation.ts'
import { closed } from '../../../kernel/schema.ts'
import { oneLine, optional, storable } from '../../../kernel/v3/lenient.ts'
import { moduleDisabled, reading, requireModule, settingUp } from '../module.ts'
import { findIdentity, saveIdentity } from './queries.ts'

const companyName = Type.String({
  maxLength: 200,
  description: 'As it stands in the footer of every message',
})
const postalAddress = Type.String({ maxLength: 500, description: 'May have several lines' })

export const getIdentityV3 = operation({
  ...reading,
  name: 'outreach_identity.get',
  http: 'GET /v3/outreach/identity',
  summary: 'Read the legal identity; empty until it is declared',
  reply: closed({ companyName, postalAddress }),
  refusals: [moduleDisabled],
}).run(async (ctx) => {
  await requireModule(ctx)
  const found = await findIdentity(ctx.db, ctx.caller.accountId)
  return { companyName: found?.company_name ?? '', postalAddress: found?.postal_address ?? '' }
})

export const updateIdentityV3 = operation({
  ...settingUp,
  name: 'outreach_identity.update',
  http: 'PUT /v3/outreach/identity',
  summary: 'Declare the company name and postal address that every message carries',
  description: 'While one of them is empty nobody can be enrolled, no sequence can run and nothing leaves.',
  body: closed({ companyName: optional(companyName), postalAddress: optional(postalAddress) }),
  status: 204,
  reply: Type.Null(),
  refusals: [moduleDisabled],
}).run(async (ctx, { body }) => {
  await requireModule(ctx)
  const { companyName: company, postalAddress: address } = body
  const given = {
    company_name: company === undefined ? undefined : oneLine(company ?? ''),
    postal_address: address === undefined ? undefined : storable(address ?? '').trim(),
  }
  await saveIdentity(ctx.db, ctx.caller.accountId, given, ctx.now)
  return null
})

// Creating, changing, copying and deleting campaigns.
import type { Ctx } from '../../kernel/ctx.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import { invalidParameter, missingParameter, notFound } from '../../kernel/refusals.ts'
import { given } from '../../kernel/v3/lenient.ts'
import type { CampaignBody } from './body.ts'
import type { CampaignRow } from './campaign-row.ts'
import {
  type CampaignRef,
  deleteCampaign,
  findCampaign,
  insertCampaign,
  lockCampaign,
  updateCampaign,
} from './queries.ts'
import { nameFrom, readFields } from './read-fields.ts'
import { campaignProcessing, campaignSent } from './refusals.ts'
import { campaignsHint } from './refuse-unknown.ts'
import { tellGoesOn } from './sending/tell-interrupted.ts'
import { refuseUnfitAt, scheduleAt } from './start-campaign.ts'

export const campaignUnknown = () =>
  notFound({ message: 'Campaign ID does not exist', param: 'id', hint: campaignsHint })

export const refOf = ({ caller }: Ctx, id: string | number): CampaignRef => ({
  accountId: caller.accountId,
  id,
})

export async function readCampaign(ctx: Ctx, id: string | number): Promise<CampaignRow> {
  const found = await findCampaign(ctx.db, refOf(ctx, id))
  if (!found) throw campaignUnknown()
  return found
}

/** Nobody else changes it until the transaction ends. */
export async function holdCampaign(ctx: Ctx, id: string | number): Promise<CampaignRow> {
  const found = await lockCampaign(ctx.db, refOf(ctx, id))
  if (!found) throw campaignUnknown()
  return found
}

export async function createCampaign(ctx: Ctx, body: CampaignBody): Promise<number> {
  if (given(body.name) === undefined)
    throw missingParameter({ message: 'Campaign name is missing', param: 'name' })
  const fields = await readFields(ctx, body)
  if (fields.html === '')
    throw missingParameter({
      message: 'One of htmlContent, htmlUrl and templateId is required',
      param: 'htmlContent',
    })
  if (fields.subject === '' && !fields.ab_test)
    throw missingParameter({ message: 'subject is missing', param: 'subject' })
  const { id } = await insertCampaign(ctx.db, ctx.caller.accountId, fields, ctx.now)
  if (given(body.scheduledAt) !== undefined)
    await scheduleAt(ctx, await holdCampaign(ctx, id), body.scheduledAt)
  return Number(id)
}

export async function changeCampaign(ctx: Ctx, id: number, body: CampaignBody): Promise<void> {
  const found = await holdCampaign(ctx, id)
  const refusal = lateness(found)
  if (refusal) throw refusal
  const fields = await readFields(ctx, body, found)
  await updateCampaign(ctx.db, refOf(ctx, id), fields, ctx.now)
  const at = given(body.scheduledAt)
  if (at !== undefined) await scheduleAt(ctx, await holdCampaign(ctx, id), at)
  // What is to go by itself must stay fit to go; key and mode stay those that it was scheduled with.
  else if (found.status === 'queued')
    await refuseUnfitAt(ctx, await holdCampaign(ctx, id), found.scheduled_at?.toISOString())
}

/** Why a campaign can be changed no more. */
function lateness({ status, was_status, frozen_at }: CampaignRow): Refusal | undefined {
  if (status === 'draft' || status === 'queued') return undefined
  // Interrupted before it had messages: nobody got another text, and its recipients may be what it was stopped for.
  if (status === 'suspended' && frozen_at === null) return undefined
  const message = `The campaign is ${status} and cannot be changed`
  if (status === 'in_process' || status === 'suspended') return campaignProcessing({ message })
  if (status === 'sent' || was_status === 'sent') return campaignSent({ message })
  return invalidParameter({ message })
}

export async function removeCampaign(ctx: Ctx, id: number): Promise<void> {
  if ((await deleteCampaign(ctx.db, refOf(ctx, id))) > 0)
    return tellGoesOn(ctx.db, { account_id: ctx.caller.accountId, id: String(id) }, ctx.now)
  const { status } = await readCampaign(ctx, id)
  throw campaignProcessing({
    message: `The campaign is ${status} and messages of it are on their way: it cannot be deleted yet`,
  })
}

export async function copyCampaign(ctx: Ctx, id: number): Promise<number> {
  const found = await readCampaign(ctx, id)
  const copy = { ...found, name: nameFrom(`Copy of ${found.name}`) }
  return Number((await insertCampaign(ctx.db, ctx.caller.accountId, copy, ctx.now)).id)
}

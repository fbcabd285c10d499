// A purchase or a sign-up, told by the customer's shop: kept once, and put down to the campaign before it.
import { collector } from '../../../kernel/collect.ts'
import type { Ctx } from '../../../kernel/ctx.ts'
import { normalEmail } from '../../../kernel/email-address.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { findCampaign } from '../../campaigns/queries.ts'
import { campaignsHint } from '../../campaigns/refuse-unknown.ts'
import { cancelCarts } from '../../events/automations/cancel-carts.ts'
import { readAmount, readCurrency } from './amount.ts'
import {
  type AttributedBy,
  type Conversion,
  findConversion,
  findPreceding,
  insertConversion,
} from './queries.ts'

export type GivenConversion = {
  email: string
  type?: 'purchase' | 'signup'
  amount?: unknown
  currency?: string
  at?: string
  external_id?: string
  campaign_id?: number
}

const precedingMs = 30 * 86_400_000
// Clocks differ.
const aheadMs = 5 * 60_000

export async function recordConversion(
  ctx: Ctx,
  given: GivenConversion,
): Promise<{ isNew: boolean; conversion: Conversion }> {
  const { accountId } = ctx.caller
  const { type = 'purchase', external_id: externalId = null } = given
  const { email, money, at } = readAll(ctx, given)
  const known = externalId === null ? undefined : await findConversion(ctx.db, accountId, externalId)
  if (known) return { isNew: false, conversion: known }
  const { campaignId, attributedBy } = await attribute(ctx, { email, at }, given.campaign_id)
  const made = await insertConversion(ctx.db, {
    ...{ accountId, email, type, money, at, externalId, campaignId, attributedBy },
    createdAt: ctx.now,
  })
  // Another call with the same identifier was quicker.
  if (!made) return recordConversion(ctx, given)
  if (type === 'purchase') await cancelCarts(ctx.db, { accountId, email, at, now: ctx.now })
  return { isNew: true, conversion: made }
}

/** Refuses all that is wrong with it at once. */
export function readAll(ctx: Ctx, given: Partial<GivenConversion>) {
  const { read, settle } = collector()
  const email = read(() => readEmail(given.email ?? '')) ?? ''
  const currency = read(() => readCurrency(given.currency))
  const amount = read(() => readSpent(given, currency))
  const at = read(() => readAt(ctx, given.at)) ?? ctx.now
  settle()
  const money = amount === undefined || currency === undefined ? null : { amount, currency }
  return { email, money, at }
}

function readEmail(given: string): string {
  const email = normalEmail(given)
  if (email !== undefined) return email
  throw invalidParameter({ message: 'email must be an email address.', param: 'email' })
}

function readSpent({ type = 'purchase', amount }: Partial<GivenConversion>, currency: string | undefined) {
  if (amount !== undefined) return readAmount(amount, currency)
  if (type === 'purchase') throw missingParameter({ message: 'A purchase needs an amount.', param: 'amount' })
  return undefined
}

function readAt({ now }: Ctx, given: string | undefined): Date {
  const at = given === undefined ? now : new Date(given)
  if (Number.isNaN(at.getTime()) || at.getTime() < 0)
    throw invalidParameter({ message: 'at must be a time since 1970.', param: 'at' })
  if (at.getTime() > now.getTime() + aheadMs)
    throw invalidParameter({ message: 'at must not be in the future.', param: 'at' })
  return at
}

type Attribution = { campaignId: string | null; attributedBy: AttributedBy | null }

async function attribute(
  { db, caller: { accountId } }: Ctx,
  { email, at }: { email: string; at: Date },
  given: number | undefined,
): Promise<Attribution> {
  if (given !== undefined) {
    if (await findCampaign(db, { accountId, id: given }))
      return { campaignId: String(given), attributedBy: 'explicit' }
    throw invalidParameter({
      message: `There is no campaign ${given}.`,
      param: 'campaign_id',
      hint: campaignsHint,
    })
  }
  const since = new Date(at.getTime() - precedingMs)
  const found = await findPreceding(db, { accountId, email }, since, at)
  return { campaignId: found?.campaign_id ?? null, attributedBy: found?.attributed_by ?? null }
}

import type { Ctx } from '../../kernel/ctx.ts'
import { invalidParameter } from '../../kernel/refusals.ts'
import { type Recipients, resolveRecipients } from './recipients-queries.ts'

const mostNamed = 10
export const listsHint = 'GET /v3/contacts/lists tells which lists there are and how many are on each.'

export const campaignsHint = 'campaign.list (GET /api/v1/campaigns) shows which campaigns there are.'

/** Refuses lists and segments that the account does not have, or whose attribute it has not. */
export async function refuseUnknownRecipients({ db, caller }: Ctx, recipients: Recipients): Promise<void> {
  const { missing } = await resolveRecipients(db, caller.accountId, recipients)
  if (missing.length === 0) return
  throw invalidParameter({
    message: `There is no ${[...new Set(missing)].slice(0, mostNamed).join(', no ')}`,
    param: 'recipients',
    hint: listsHint,
  })
}

import type { Ctx } from '../../kernel/ctx.ts'
import { invalidParameter } from '../../kernel/refusals.ts'
import { type Recipients, resolveRecipients } from './recipients-queries.ts'

const mostNamed = 10

/** Refuses lists and segments that the account does not have. */
export async function refuseUnknownRecipients({ db, caller }: Ctx, recipients: Recipients): Promise<void> {
  const { missing } = await resolveRecipients(db, caller.accountId, recipients)
  const unknown = [
    ...missing.listIds.map((id) => `list ${id}`),
    ...missing.segmentIds.map((id) => `segment ${id}`),
  ]
  if (unknown.length === 0) return
  throw invalidParameter({
    message: `There is no ${unknown.slice(0, mostNamed).join(', no ')}`,
    param: 'recipients',
  })
}

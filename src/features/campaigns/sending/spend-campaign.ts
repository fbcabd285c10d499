// A campaign's messages count against quota and cap when its send starts: all of them, or the campaign waits.
import { nobody } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { spendAllOrNone, unspend } from '../../accounts/usage/spend-sending.ts'
import { countIn, markSpent, markUnspent, type SendingRow, suspend } from './campaign-queries.ts'

/** Whether there was room; where not, the campaign is interrupted, and resuming it asks again. */
export async function spendCampaign(
  tx: Db,
  campaign: SendingRow,
  count: number,
  now: Date,
): Promise<boolean> {
  const { account_id, key_id, daily_cap } = campaign
  const caller = { ...nobody, accountId: account_id, keyId: key_id, dailyCap: daily_cap }
  const refusal = await spendAllOrNone(tx, caller, count, now)
  if (refusal) await suspend(tx, campaign, reasonOf(refusal.message, count))
  else await markSpent(tx, campaign, now)
  return !refusal
}

const reasonOf = (message: string, count: number) =>
  `${message} The campaign needs room for ${count} messages: resume it when there is.`

/** Once, when a cancelled campaign has nothing left that could still go out. */
export async function unspendCampaign(tx: Db, campaign: SendingRow): Promise<void> {
  if (campaign.spent_at === null) return
  const { count } = await countIn(tx, campaign, ['cancelled'])
  const { account_id: accountId, key_id: keyId } = campaign
  if (count > 0) await unspend(tx, { accountId, keyId }, count, campaign.spent_at)
  // Archiving lets its messages be looked at again.
  await markUnspent(tx, campaign)
}

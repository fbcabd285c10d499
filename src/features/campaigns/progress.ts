import type { Db } from '../../kernel/db.ts'
import { type Progress, progressOf, readCounts } from '../messages/counts/read-counts.ts'
import { type CampaignRow, inForce, type Status } from './campaign-row.ts'
import type { CampaignRef } from './queries.ts'
import { countRecipients } from './recipients-queries.ts'

export type { Progress }

/** What became of the recipients; every one of them is in exactly one of the counts. */
export async function readProgress(db: Db, { accountId, id }: CampaignRef): Promise<Progress> {
  return progressOf(await readCounts(db, { accountId, campaignIds: [String(id)] }))
}

/** How many recipients can be listed: an erased one is counted on above, but nothing is left to show. */
export async function countListed(db: Db, { accountId, id }: CampaignRef, state: keyof Progress) {
  const counts = await readCounts(db, { accountId, campaignIds: [String(id)] })
  return progressOf(counts)[state] - progressOf(counts, 'erased')[state]
}

const states: Partial<Record<Status, keyof Progress>> = {
  in_process: 'queued',
  suspended: 'held',
  cancelled: 'cancelled',
}

/** Until those whom a send is for are written down, all of them wait, or stopped, as the campaign did. */
export async function progressFrom(db: Db, campaign: CampaignRow): Promise<Progress> {
  const { account_id: accountId, id, frozen_at } = campaign
  const counted = await readProgress(db, { accountId, id })
  const state = states[inForce(campaign) ?? 'draft']
  if (!state || frozen_at !== null || counted.total > 0) return counted
  const total = campaign.total ?? (state === 'queued' ? await countStarted(db, campaign) : 0)
  return { ...counted, [state]: total, total }
}

async function countStarted(db: Db, { account_id, recipients, started_at }: CampaignRow): Promise<number> {
  return (await countRecipients(db, account_id, recipients, started_at ?? undefined)).total
}

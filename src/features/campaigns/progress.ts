import type { Db } from '../../kernel/db.ts'
import { type Progress, progressOf, readCounts } from '../messages/counts/read-counts.ts'
import type { CampaignRef } from './queries.ts'

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

import type { Db } from '../../../kernel/db.ts'
import { hasAny, listFinished, lockFree, markSent, type Ref } from './campaign-queries.ts'
import { eachCampaign } from './each-campaign.ts'
import { deleteFile } from './file-queries.ts'
import { findWinner, listUndecided, markTested, setWinner } from './winner-queries.ts'

/** A campaign is sent when nothing of it is left; what waits for a retry keeps it going. */
export async function finishCampaigns(db: Db, now: Date): Promise<void> {
  await eachCampaign(await listFinished(db), (ref) => db.transaction((tx) => finishCampaign(tx, ref, now)))
}

async function finishCampaign(tx: Db, ref: Ref, now: Date): Promise<void> {
  const campaign = await lockFree(tx, ref)
  if (campaign?.in_force !== 'in_process' || campaign.followed !== 'in_process') return
  if ((await hasAny(tx, ref, ['queued', 'held'])).left) return
  await markSent(tx, ref, now)
  await deleteFile(tx, ref)
}

export async function decideTests(db: Db, now: Date, stopping: AbortSignal): Promise<void> {
  await markTested(db, now)
  await eachCampaign(await listUndecided(db, now), async (ref) => {
    if (!stopping.aborted) await db.patiently((tx) => decideTest(tx, ref), stopping)
  })
}

async function decideTest(tx: Db, ref: Ref): Promise<void> {
  const campaign = await lockFree(tx, ref)
  if (campaign?.in_force !== 'in_process' || campaign.winner !== null) return
  const { winner } = await findWinner(tx, ref, campaign.ab_test?.winnerCriteria ?? 'open')
  await setWinner(tx, ref, winner)
}

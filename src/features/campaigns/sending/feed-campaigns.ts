import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../kernel/db.ts'
import { lanes } from '../../messages/model.ts'
import { lockFree, type Ref } from './campaign-queries.ts'
import { countDue, feed, listHungry, markFed } from './feed-queries.ts'

export const portion = 5_000
const lowWater = 5_000
const againMs = 200

type Needs = { db: Db; now: () => Date; wake: () => void; stopping: AbortSignal }

/** For as long as there is something to feed. */
export async function feedCampaigns({ db, now, wake, stopping }: Needs): Promise<void> {
  for (;;) {
    const hungry = await listHungry(db)
    let fed = 0
    for (const ref of hungry) fed += await db.transaction((tx) => feedCampaign(tx, ref, now()))
    if (fed > 0) wake()
    if (hungry.length === 0 || stopping.aborted) return
    await sleep(againMs, undefined, { signal: stopping }).catch(() => {})
  }
}

/** The marker moves with the portion. Gives how many were fed. */
export async function feedCampaign(tx: Db, ref: Ref, now: Date): Promise<number> {
  const campaign = await lockFree(tx, ref)
  if (campaign?.in_force !== 'in_process' || campaign.spent_at === null) return 0
  const lane = lanes.marketing
  const { due } = await countDue(tx, ref.account_id, { lane, most: lowWater })
  if (due >= lowWater) return 0
  const { fed, last } = await feed(tx, ref, { lane, limit: portion, after: campaign.fed_to, at: now })
  if (last !== null) await markFed(tx, ref, last)
  return fed
}

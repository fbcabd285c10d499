import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../kernel/db.ts'
import { lanes } from '../../messages/model.ts'
import { lockFree, type Ref } from './campaign-queries.ts'
import { eachCampaign } from './each-campaign.ts'
import { countDue, feed, listHungry, markFed, markWarmed } from './feed-queries.ts'
import { dayOfWarmup, leftInDay, type Warmed, type Warmup } from './warm-up.ts'

export const portion = 5_000
const lowWater = 5_000
const againMs = 200

type Needs = { db: Db; now: () => Date; wake: () => void; stopping: AbortSignal }

/** For as long as there is something to feed. */
export async function feedCampaigns({ db, now, wake, stopping }: Needs): Promise<void> {
  for (;;) {
    const hungry = await listHungry(db, now())
    await eachCampaign(hungry, async (ref) => {
      if ((await db.transaction((tx) => feedCampaign(tx, ref, now()))) > 0) wake()
    })
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
  const day = campaign.warmup && dayOfWarmup(campaign.warmed, now)
  const limit = campaign.warmup && day ? Math.min(portion, leftInDay(campaign.warmup, day)) : portion
  const { fed, last } = await feed(tx, ref, { lane, limit, after: campaign.fed_to, at: now })
  if (last !== null) await markFed(tx, ref, last)
  if (campaign.warmup && day) await warmUp(tx, ref, campaign.warmup, { ...day, fed: day.fed + fed })
  return fed
}

async function warmUp(tx: Db, ref: Ref, warmup: Warmup, day: Warmed): Promise<void> {
  await markWarmed(tx, ref, day, leftInDay(warmup, day) === 0 ? new Date(day.until) : null)
}

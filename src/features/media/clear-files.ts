// Removes the files of deleted images and of uploads that never came to an end, and after each file its row.
import type { Db } from '../../kernel/db.ts'
import type { Job } from '../../kernel/job.ts'
import { claimToClear, deleteCleared } from './queries.ts'
import type { StoreNeeds } from './store-image.ts'

const leaseMs = 10 * 60_000
const mostAtOnce = 100

export function mediaJob(needs: StoreNeeds): Job {
  return {
    name: 'media.clear',
    everySeconds: 5,
    claimsItsOwn: true,
    run: async (db, now, stopping) => {
      while (!stopping.aborted && (await clearSome({ db, ...needs }, now, stopping)) === mostAtOnce);
    },
  }
}

/** One that cannot be removed is tried again when the lease is over. */
async function clearSome(needs: StoreNeeds & { db: Db }, now: Date, stopping: AbortSignal): Promise<number> {
  const { db, storage, log } = needs
  const until = new Date(now.getTime() + leaseMs)
  const claimed = await claimToClear(db, now, { until, most: mostAtOnce })
  for (const one of claimed) {
    if (stopping.aborted) break
    try {
      await storage.remove(one.file)
      await deleteCleared(db, one)
    } catch (error) {
      log.error({ err: error, image: one.uuid }, 'the file of a deleted image could not be removed')
    }
  }
  return claimed.length
}

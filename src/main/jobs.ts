// Every background job and how often it runs.
import { deleteExpiredIdempotencyKeys, deleteIdleRates } from '../gates/queries.ts'
import type { Job } from '../kernel/job.ts'

export const jobs: Job[] = [
  {
    name: 'gates.forget',
    everySeconds: 600,
    run: async (db, now) => {
      await deleteExpiredIdempotencyKeys(db, now)
      await deleteIdleRates(db)
    },
  },
]

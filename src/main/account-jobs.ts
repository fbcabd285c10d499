// What is done for accounts in the background.
import { noteNearCaps } from '../features/accounts/usage/near-caps.ts'
import { deleteOldCodeCounts } from '../features/senders/queries.ts'
import type { Job } from '../kernel/job.ts'
import { dayOf } from '../kernel/v3/dates.ts'

export const accountJobs: Job[] = [
  { name: 'caps.note', everySeconds: 60, run: noteNearCaps },
  {
    name: 'senders.forget',
    everySeconds: 3_600,
    run: async (db, at) => {
      await deleteOldCodeCounts(db, dayOf(at))
    },
  },
]

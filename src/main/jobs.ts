// Every background job and how often it runs.
import { deleteOldFeedback } from '../features/messages/feedback-queries.ts'
import { unsuppressUpstream } from '../features/suppressions/unsuppress-upstream.ts'
import { deleteExpiredIdempotencyKeys, deleteIdleRates } from '../gates/queries.ts'
import type { Job } from '../kernel/job.ts'
import type { Log } from '../kernel/log.ts'
import type { Transport } from '../kernel/ports.ts'

const daysMs = 86_400_000
// Providers give up repeating a notification long before.
const feedbackKeptMs = 14 * daysMs

export type JobNeeds = { transport: Transport; log: Log }

export const jobsFor = ({ transport, log }: JobNeeds): Job[] => [
  {
    name: 'gates.forget',
    everySeconds: 600,
    run: async (db, now) => {
      await deleteExpiredIdempotencyKeys(db, now)
      await deleteIdleRates(db)
    },
  },
  {
    name: 'feedback.forget',
    everySeconds: 3_600,
    run: async (db, now) => {
      await deleteOldFeedback(db, new Date(now.getTime() - feedbackKeptMs))
    },
  },
  {
    name: 'suppressions.upstream',
    everySeconds: 30,
    claimsItsOwn: true,
    run: (db) => unsuppressUpstream({ db, log, transport }),
  },
]

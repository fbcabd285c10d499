import { firstUuidAt } from '../../kernel/id.ts'
import type { Job } from '../../kernel/job.ts'
import { forgetDeliveries, forgetOrphans, giveUpDisabled } from './health-queries.ts'

const keptMs = 30 * 24 * 3_600_000
const portion = 2_000

export const webhookJobs: Job[] = [
  {
    name: 'webhooks.forget',
    everySeconds: 60,
    claimsItsOwn: true,
    run: async (db, at, stopping) => {
      const before = firstUuidAt(at.getTime() - keptMs)
      const portions = [
        () => giveUpDisabled(db, portion),
        () => forgetDeliveries(db, { before, limit: portion }),
        () => forgetOrphans(db, portion),
      ]
      for (const work of portions) while (!stopping.aborted && (await work()) >= portion);
    },
  },
]

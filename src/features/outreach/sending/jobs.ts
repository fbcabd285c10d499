// Everything that moves sequences along, in every worker process.
import type { Job } from '../../../kernel/job.ts'
import { planAll } from '../planning/plan-account.ts'
import { type EngineNeeds, sendDue, settleOpen } from './engine.ts'
import { sendReplies } from './send-replies.ts'
import { finishSequences } from './settle-queries.ts'

export const outreachJobs = (needs: Omit<EngineNeeds, 'db' | 'stopping'>): Job[] => [
  { name: 'outreach.plan', everySeconds: 15, claimsItsOwn: true, run: planAll },
  {
    name: 'outreach.send',
    everySeconds: 2,
    claimsItsOwn: true,
    run: async (db, _now, stopping) => {
      await sendReplies({ ...needs, db, stopping })
      await sendDue({ ...needs, db, stopping })
    },
  },
  {
    name: 'outreach.settle',
    everySeconds: 30,
    claimsItsOwn: true,
    run: async (db, now) => {
      await settleOpen(db, now)
      await finishSequences(db, now)
    },
  },
]

// Everything that moves sequences along, in every worker process.
import type { Job } from '../../../kernel/job.ts'
import { planAll } from '../planning/plan-account.ts'
import { type EngineNeeds, openStepLanes, sendDue, settleOpen } from './engine.ts'
import { openReplyLanes, sendReplies } from './send-replies.ts'
import { finishSequences } from './settle-queries.ts'

type Needs = Omit<EngineNeeds, 'db' | 'stopping'>

export const outreachJobs = (needs: Needs): Job[] => [
  { name: 'outreach.plan', everySeconds: 15, claimsItsOwn: true, run: planAll },
  { name: 'outreach.send', everySeconds: 2, claimsItsOwn: true, run: sendingWith(needs) },
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

/** While a few are slow, others have their turns. */
function sendingWith(needs: Needs): Job['run'] {
  const [replies, steps] = [openReplyLanes(), openStepLanes()]
  return async (db, _now, stopping) => {
    const engine = { ...needs, db, stopping }
    do {
      await sendReplies(engine, replies)
      await sendDue(engine, steps)
    } while ((replies.isBusy() || steps.isBusy()) && !stopping.aborted)
    await Promise.all([replies.idle(), steps.idle()])
  }
}

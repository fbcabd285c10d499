// Where the operator wants it, what messages said is forgotten some time after they are done with. That they were, and
// what became of them, stays: statistics and proofs are made of it.
import type { Db } from '../../kernel/db.ts'
import { forgetting } from '../../kernel/forgetting.ts'
import { firstUuidAt } from '../../kernel/id.ts'
import type { Job } from '../../kernel/job.ts'
import { deleteOldCaptured, deleteOldContents } from './forget-queries.ts'

// Each may bring 20 MB of files: more of them would take longer than a statement may.
const portion = 200

export const contentJobs = (days: number): Job[] => forgetting('messages.forget', days, forgetContents)

async function forgetContents(db: Db, time: number, stopping: AbortSignal): Promise<void> {
  const of = { before: firstUuidAt(time), at: new Date(time), limit: portion }
  let after: string | null = firstUuidAt(0)
  while (after !== null && !stopping.aborted) {
    const from: string = after
    const { last } = await db.transaction((tx) => deleteOldContents(tx, { ...of, after: from }))
    after = last
  }
  while (!stopping.aborted && (await deleteOldCaptured(db, of)) >= portion);
}

// The action log is kept for a while: otherwise it would be the largest table of all.
import type { Db } from '../../../kernel/db.ts'
import { forgetting } from '../../../kernel/forgetting.ts'
import { firstUuidAt } from '../../../kernel/id.ts'
import type { Job } from '../../../kernel/job.ts'
import { deleteOldLines } from './queries.ts'

// Small enough that nobody waits for it.
const portion = 5_000

export const auditJobs = (days: number): Job[] => forgetting('audit.forget', days, forgetLines)

async function forgetLines(db: Db, before: number, stopping: AbortSignal): Promise<void> {
  const of = { before: firstUuidAt(before), limit: portion }
  while (!stopping.aborted && (await deleteOldLines(db, of)) >= portion);
}

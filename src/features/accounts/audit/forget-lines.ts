// The action log is kept for a while: otherwise it would be the largest table of all.
import type { Db } from '../../../kernel/db.ts'
import { firstUuidAt } from '../../../kernel/id.ts'
import type { Job } from '../../../kernel/job.ts'
import { deleteOldLines } from './queries.ts'

const dayMs = 24 * 3_600_000
// Small enough that nobody waits for it.
const portion = 5_000

/** 0 days: for ever. */
export const auditJobs = (days: number): Job[] =>
  days === 0
    ? []
    : [
        {
          name: 'audit.forget',
          everySeconds: 3_600,
          claimsItsOwn: true,
          run: (db, now, stopping) => forgetLines(db, now.getTime() - days * dayMs, stopping),
        },
      ]

async function forgetLines(db: Db, before: number, stopping: AbortSignal): Promise<void> {
  const of = { before: firstUuidAt(before), limit: portion }
  while (!stopping.aborted && (await deleteOldLines(db, of)) >= portion);
}

// Where the operator wants it, what messages said is forgotten some time after they are done with. That they were, and
// what became of them, stays: statistics and proofs are made of it.
import type { Db } from '../../kernel/db.ts'
import { firstUuidAt } from '../../kernel/id.ts'
import type { Job } from '../../kernel/job.ts'
import { deleteOldCaptured, deleteOldContents } from './forget-queries.ts'

const dayMs = 24 * 3_600_000
// Each may bring 20 MB of files: more of them would take longer than a statement may.
const portion = 200

/** 0 days: for ever. */
export const contentJobs = (days: number): Job[] =>
  days === 0
    ? []
    : [
        {
          name: 'messages.forget',
          everySeconds: 3_600,
          claimsItsOwn: true,
          run: (db, now, stopping) => forgetContents(db, now.getTime() - days * dayMs, stopping),
        },
      ]

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

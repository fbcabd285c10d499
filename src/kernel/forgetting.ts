import type { Db } from './db.ts'
import type { Job } from './job.ts'

const dayMs = 24 * 3_600_000

/** `before`: by the clock, in milliseconds. */
type Forget = (db: Db, before: number, stopping: AbortSignal) => Promise<void>

/** For what is kept so many days; 0: for ever. */
export const forgetting = (name: string, days: number, forget: Forget): Job[] =>
  days === 0
    ? []
    : [
        {
          name,
          everySeconds: 3_600,
          claimsItsOwn: true,
          run: (db, now, stopping) => forget(db, now.getTime() - days * dayMs, stopping),
        },
      ]

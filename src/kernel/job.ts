// Recurring background work. Each job runs in one process at a time, whoever gets its advisory lock, unless it says
// that it claims its own rows.
import { setMaxListeners } from 'node:events'
import type { Db } from './db.ts'
import type { Log } from './log.ts'
import { bool, row } from './row.ts'
import { sql } from './sql.ts'

export type Job = {
  name: string
  everySeconds: number
  /** Runs outside a transaction, in several processes at once: for work that talks to the outside. */
  claimsItsOwn?: true
  /** Told when the process is about to stop; what goes on for long has to look. */
  run: (db: Db, now: Date, stopping: AbortSignal) => Promise<void>
}

export type RunningJobs = { stop(): Promise<void> }

type Needs = { db: Db; log: Log; now: () => Date }

export function startJobs(jobs: Job[], needs: Needs): RunningJobs {
  const stopping = new AbortController()
  // Every job listens to it.
  setMaxListeners(0, stopping.signal)
  const loops = jobs.map((job) => repeat(job, needs, stopping.signal))
  return {
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}

async function repeat(job: Job, needs: Needs, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await runOnce(job, needs, stopping).catch((error) => {
      if (stopping.aborted) return
      needs.log.error({ job: job.name, err: error }, 'background job failed')
    })
    await pause(job.everySeconds * 1000, stopping)
  }
}

const Locked = row<{ locked: boolean }>({ locked: bool })

export async function runOnce(
  job: Job,
  { db, now }: Pick<Needs, 'db' | 'now'>,
  stopping = new AbortController().signal,
): Promise<void> {
  if (job.claimsItsOwn) return job.run(db, now(), stopping)
  await db.transaction(async (tx) => {
    const { locked } = await tx.one(
      Locked,
      sql`select pg_try_advisory_xact_lock(hashtextextended(${`job:${job.name}`}, 0)) as locked`,
    )
    if (locked) await job.run(tx, now(), stopping)
  })
}

function pause(ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      stopping.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    stopping.addEventListener('abort', done)
    if (stopping.aborted) done()
  })
}

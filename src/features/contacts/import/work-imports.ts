// Works imports off, a chunk at a time. A chunk and the marker behind it commit together, so whoever goes on after a
// kill, here or in another process, goes on exactly there.
import type { Db } from '../../../kernel/db.ts'
import type { Log } from '../../../kernel/log.ts'
import { countBelievedEmpty } from '../believed-empty-queries.ts'
import type { FetchedFile } from './decode.ts'
import { importChunk } from './import-chunk.ts'
import {
  advanceProcess,
  type ClaimedProcess,
  claimProcess,
  failProcess,
  type ProcessRef,
  postponeProcess,
  takeChunk,
} from './process-queries.ts'

export type ImportNeeds = {
  db: Db
  log: Log
  /** Gets what stands at a public address; refuses private ones, redirects and what is too large. */
  fetchFile: (url: string) => Promise<FetchedFile>
  /** Tells the address that the caller named, once and at best. */
  notify: (url: string, message: { processId: number; status: 'completed' | 'failed' }) => Promise<void>
}

// So that a stopping process does not wait for a long file; the job comes back at once.
const stepsInTurn = 20
const mostAttempts = 5
const restMs = 30_000

/** Not to be called inside a transaction: each step has its own. */
export async function workImports(needs: ImportNeeds, now: Date): Promise<void> {
  for (let step = 0; step < stepsInTurn; step++) if (!(await workStep(needs, now))) return
}

export type Step = { process?: ClaimedProcess; status?: 'completed' | 'failed' }

/** One chunk of one import whose rows are here. False when there is nothing to do. */
export async function workStep(needs: ImportNeeds, now: Date): Promise<boolean> {
  const step: Step = {}
  try {
    await needs.db.transaction((tx) => workInTransaction(tx, step, now))
    if (step.process) await countBelievedEmpty(needs.db)
  } catch (error) {
    if (!step.process) throw error
    needs.log.error({ err: error, process: step.process.id }, 'a chunk of an import failed')
    await restOrFail(needs.db, step, now)
  }
  await tell(needs, step)
  return step.process !== undefined
}

async function workInTransaction(db: Db, step: Step, now: Date): Promise<void> {
  const process = await claimProcess(db, { now, of: 'rows' })
  step.process = process
  step.status = undefined
  if (!process) return
  const { rows } = await takeChunk(db, refOf(process), process.next_chunk)
  await advanceProcess(db, refOf(process), await importChunk(db, process, rows, now), now)
  if (process.next_chunk + 1 >= process.chunks) step.status = 'completed'
}

export const refOf = ({ account_id, id }: ClaimedProcess): ProcessRef => ({ accountId: account_id, id })

/** Tried again a few times, a while later. */
export async function restOrFail(db: Db, step: Step, now: Date): Promise<void> {
  const { process } = step
  if (!process) return
  const attempts = process.attempts + 1
  step.status = undefined
  if (attempts < mostAttempts)
    return void (await postponeProcess(db, refOf(process), new Date(now.getTime() + restMs * attempts)))
  const error = 'Something went wrong on our side; what was imported until then is kept.'
  await db.transaction((tx) => failProcess(tx, refOf(process), error, now))
  step.status = 'failed'
}

export async function tell({ notify, log }: ImportNeeds, { process, status }: Step): Promise<void> {
  const url = process?.settings.notifyUrl ?? null
  if (!process || !status || url === null) return
  await notify(url, { processId: Number(process.id), status }).catch((error: unknown) => {
    log.warn({ err: error, process: process.id }, 'telling of the end of an import failed')
  })
}

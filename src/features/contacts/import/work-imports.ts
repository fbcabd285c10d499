// Works imports off, a chunk at a time. A chunk and the marker behind it commit together, so whoever goes on after a
// kill, here or in another process, goes on exactly there.
import type { Db } from '../../../kernel/db.ts'
import type { Log } from '../../../kernel/log.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { invalidParameter, isDatabaseDown } from '../../../kernel/refusals.ts'
import { countBelievedEmpty } from '../believed-empty-queries.ts'
import { decodeFile, type FetchedFile } from './decode.ts'
import { rowsOfCsv, rowsOfJson } from './given-rows.ts'
import { importChunk } from './import-chunk.ts'
import {
  advanceProcess,
  type ClaimedProcess,
  claimProcess,
  failProcess,
  holdUnread,
  leaseProcess,
  type ProcessRef,
  postponeProcess,
  takeChunk,
} from './process-queries.ts'
import { storeRows } from './store-rows.ts'

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
// Longer than fetching and storing a file may take.
const leaseMs = 180_000
const mostAttempts = 5
const restMs = 30_000

/** Not to be called inside a transaction: each step has its own. */
export async function workImports(needs: ImportNeeds, now: Date): Promise<void> {
  for (let step = 0; step < stepsInTurn; step++) if (!(await workStep(needs, now))) return
}

type Step = { process?: ClaimedProcess; status?: 'completed' | 'failed' }

/** One chunk of one import, or the fetching of a file. False when there is nothing to do. */
export async function workStep(needs: ImportNeeds, now: Date): Promise<boolean> {
  const step: Step = {}
  try {
    await needs.db.transaction((tx) => workInTransaction(tx, step, now))
    if (step.process) await countBelievedEmpty(needs.db)
    if (step.process?.file_url) await readFile(needs, step, now)
  } catch (error) {
    if (!step.process) throw error
    needs.log.error({ err: error, process: step.process.id }, 'a chunk of an import failed')
    await restOrFail(needs.db, step, now)
  }
  if (step.process && step.status) await tell(needs, step.process, step.status)
  return step.process !== undefined
}

async function workInTransaction(db: Db, step: Step, now: Date): Promise<void> {
  const process = await claimProcess(db, now)
  step.process = process
  step.status = undefined
  if (!process) return
  if (process.file_url !== null) {
    await leaseProcess(db, refOf(process), new Date(now.getTime() + leaseMs))
    return
  }
  const { rows } = await takeChunk(db, refOf(process), process.next_chunk)
  await advanceProcess(db, refOf(process), await importChunk(db, process, rows, now), now)
  if (process.next_chunk + 1 >= process.chunks) step.status = 'completed'
}

const refOf = ({ account_id, id }: ClaimedProcess): ProcessRef => ({ accountId: account_id, id })

/** What is wrong with the file is the caller's to know; anything else is tried again. */
async function readFile(needs: ImportNeeds, step: Step, now: Date): Promise<void> {
  const { process } = step
  if (!process?.file_url) return
  const ref = refOf(process)
  try {
    const file = await fetched(needs, process.file_url)
    const rows = rowsOfFile(process.file_url, file)
    await needs.db.transaction(async (tx) => {
      if (!(await holdUnread(tx, ref))) return
      const { chunks } = await storeRows(tx, ref, rows, now)
      step.status = chunks === 0 ? 'completed' : undefined
    })
  } catch (error) {
    if (!(error instanceof Refusal) || isDatabaseDown(error)) throw error
    await needs.db.transaction((tx) => failProcess(tx, ref, error.message, now))
    step.status = 'failed'
  }
}

async function fetched({ fetchFile }: ImportNeeds, url: string): Promise<FetchedFile> {
  return fetchFile(url).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    throw invalidParameter({ message: `The file could not be read: ${why}` })
  })
}

function rowsOfFile(url: string, file: FetchedFile) {
  const text = decodeFile(file)
  const isJson = /\bjson\b/i.test(file.contentType) || /\.json$/i.test(new URL(url).pathname)
  return isJson ? rowsOfJson(entriesOf(text)) : rowsOfCsv(text)
}

function entriesOf(text: string): unknown[] {
  const fault = () => invalidParameter({ message: 'The file is not a JSON list.' })
  let entries: unknown
  try {
    entries = JSON.parse(text)
  } catch {
    throw fault()
  }
  if (!Array.isArray(entries)) throw fault()
  return entries
}

async function restOrFail(db: Db, step: Step, now: Date): Promise<void> {
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

async function tell(
  { notify, log }: ImportNeeds,
  { id, settings }: ClaimedProcess,
  status: 'completed' | 'failed',
) {
  if (settings.notifyUrl === null) return
  await notify(settings.notifyUrl, { processId: Number(id), status }).catch((error: unknown) => {
    log.warn({ err: error, process: id }, 'telling of the end of an import failed')
  })
}

// Files that imports name by their address. Whose they are decides how long they take: some are fetched side by side,
// few of one account, and nobody's rows wait for them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../kernel/db.ts'
import { refuseShape } from '../../../kernel/json.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { invalidParameter, isDatabaseDown } from '../../../kernel/refusals.ts'
import { decodeFile, type FetchedFile } from './decode.ts'
import { rowsOfCsv, rowsOfJson } from './given-rows.ts'
import {
  type ClaimedProcess,
  claimProcess,
  failProcess,
  holdUnread,
  leaseProcess,
} from './process-queries.ts'
import { storeRows } from './store-rows.ts'
import { type ImportNeeds, refOf, restOrFail, type Step, tell } from './work-imports.ts'

export type FetchNeeds = ImportNeeds & { now: () => Date }

const atOnce = 10
const ofAccount = 2
// Longer than fetching and storing a file may take.
const leaseMs = 180_000
const againMs = 500

/** For as long as there are any. Not to be called inside a transaction. */
export async function fetchFiles(needs: FetchNeeds, stopping: AbortSignal): Promise<void> {
  const running = new Map<Promise<void>, string>()
  while (!stopping.aborted) {
    const underWay = [...running.keys()]
    const claimed = running.size < atOnce ? await claimFile(needs, [...running.values()]) : undefined
    if (claimed) {
      const { process } = claimed
      const fetching: Promise<void> = fetchOne(needs, claimed, stopping)
        // The lease gives it back.
        .catch((error) => needs.log.error({ err: error, process: process.id }, 'fetching a file failed'))
        .finally(() => running.delete(fetching))
      running.set(fetching, process.account_id)
    } else if (underWay.length === 0) return
    else await Promise.race([...underWay, sleep(againMs, undefined, { ref: false })])
  }
}

type Fetch = { process: ClaimedProcess; leasedUntil: Date }

function claimFile({ db, now }: FetchNeeds, busy: string[]): Promise<Fetch | undefined> {
  const at = now()
  const leasedUntil = new Date(at.getTime() + leaseMs)
  const without = busy.filter((account) => busy.filter((one) => one === account).length >= ofAccount)
  return db.transaction(async (tx) => {
    const process = await claimProcess(tx, { now: at, of: 'file', without })
    if (process) await leaseProcess(tx, refOf(process), leasedUntil)
    return process && { process, leasedUntil }
  })
}

/** What a stopping process leaves is another's after the lease. */
async function fetchOne(needs: FetchNeeds, claimed: Fetch, stopping: AbortSignal): Promise<void> {
  const { process } = claimed
  const step: Step = { process }
  try {
    await readFile(needs, claimed, step)
  } catch (error) {
    if (stopping.aborted || isDatabaseDown(error)) return
    needs.log.error({ err: error, process: process.id }, 'the file of an import could not be taken')
    await ifHeld(needs, claimed, (tx) => restOrFail(tx, step, needs.now()))
  }
  await tell(needs, step)
}

/** What is wrong with the file is the caller's to know; anything else is tried again. */
async function readFile(needs: FetchNeeds, claimed: Fetch, step: Step): Promise<void> {
  const { process } = claimed
  if (!process.file_url) return
  const ref = refOf(process)
  try {
    const file = await fetched(needs, process.file_url)
    const rows = rowsOfFile(process.file_url, file)
    await ifHeld(needs, claimed, async (tx) => {
      const { chunks } = await storeRows(tx, ref, rows, needs.now())
      step.status = chunks === 0 ? 'completed' : undefined
    })
  } catch (error) {
    if (!(error instanceof Refusal) || isDatabaseDown(error)) throw error
    await ifHeld(needs, claimed, async (tx) => {
      await failProcess(tx, ref, error.message, needs.now())
      step.status = 'failed'
    })
  }
}

/** Whoever comes back after the lease says nothing about what another has read by now. */
function ifHeld({ db }: FetchNeeds, { process, leasedUntil }: Fetch, work: (tx: Db) => Promise<void>) {
  return db.transaction(async (tx) => {
    if (await holdUnread(tx, refOf(process), leasedUntil)) await work(tx)
  })
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
  refuseShape(text, 'The file')
  let entries: unknown
  try {
    entries = JSON.parse(text)
  } catch {
    throw fault()
  }
  if (!Array.isArray(entries)) throw fault()
  return entries
}

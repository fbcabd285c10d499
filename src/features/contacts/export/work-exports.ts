// Writes exports, a page at a time, whatever they are of. A page and the marker behind it commit together, so whoever
// goes on after a kill, here or in another process, goes on exactly there; no more than a page is ever in memory.
import { randomBytes } from 'node:crypto'
import type { Db } from '../../../kernel/db.ts'
import type { Log } from '../../../kernel/log.ts'
import { isDatabaseDown } from '../../../kernel/refusals.ts'
import { failProcess, type ProcessRef, postponeProcess } from '../import/process-queries.ts'
import type { ImportNeeds } from '../import/work-imports.ts'
import { headingOf } from './csv.ts'
import {
  addPage,
  type ClaimedExport,
  claimExport,
  deletePages,
  type ExportSettings,
  holdForExport,
  nextExport,
} from './queries.ts'

/** Where to read on; from the beginning when null. */
export type ReadFrom<Filter> = {
  accountId: string
  settings: ExportSettings<Filter>
  readTo: string | null
  now: Date
}
export type ReadPage = { lines: string[]; readTo: string | null; isLast: boolean }

/** Gives the lines behind a position, in an order that does not change. */
export type PageReader<Filter> = (db: Db, from: ReadFrom<Filter>) => Promise<ReadPage>

export type ExportNeeds = {
  db: Db
  log: Log
  notify: ImportNeeds['notify']
  /** By the name of the process. */
  readers: Record<string, PageReader<never>>
}

// So that a stopping process does not wait for a long file; the job comes back at once.
const pagesInTurn = 50
const mostAttempts = 5
const restMs = 30_000

/** Not to be called inside a transaction: each page has its own. */
export async function workExports(needs: ExportNeeds, now: Date): Promise<void> {
  for (let page = 0; page < pagesInTurn; page++) if (!(await workPage(needs, now))) return
}

/** False when there is nothing to do. */
export async function workPage(needs: ExportNeeds, now: Date): Promise<boolean> {
  const next = await nextExport(needs.db, Object.keys(needs.readers), now)
  const read = needs.readers[next?.name ?? '']
  if (!next || !read) return false
  const ref = { accountId: next.account_id, id: next.id }
  const work: Work = { ref, now }
  try {
    await needs.db.transaction((tx) => writePage(tx, work, read))
  } catch (error) {
    if (isDatabaseDown(error)) throw error
    needs.log.error({ err: error, process: ref.id }, 'a page of an export failed')
    await restOrFail(needs.db, work)
  }
  await tell(needs, work)
  return work.claimed !== undefined
}

type Work = { ref: ProcessRef; now: Date; claimed?: ClaimedExport; ended?: 'completed' | 'failed' }

async function writePage(db: Db, work: Work, read: PageReader<never>): Promise<void> {
  const { ref, now } = work
  await holdForExport(db, ref.accountId)
  const claimed = await claimExport(db, ref)
  Object.assign(work, { claimed, ended: undefined })
  if (!claimed) return
  const { settings, read_to: readFrom, next_chunk: number } = claimed
  const { accountId } = ref
  const { lines, readTo, isLast } = await read(db, { accountId, settings, readTo: readFrom, now })
  const heading = number === 0 ? headingOf(settings.columns) : ''
  const page = {
    csv: heading + lines.join(''),
    readTo,
    lines: lines.length,
    fileToken: isLast ? randomBytes(32).toString('base64url') : null,
  }
  await addPage(db, ref, page, now)
  if (isLast) work.ended = 'completed'
}

async function restOrFail(db: Db, work: Work): Promise<void> {
  const { ref, now } = work
  const attempts = (work.claimed?.attempts ?? 0) + 1
  work.ended = undefined
  if (attempts < mostAttempts)
    return void (await postponeProcess(db, ref, new Date(now.getTime() + restMs * attempts)))
  await db.transaction(async (tx) => {
    await deletePages(tx, ref)
    await failProcess(tx, ref, 'Something went wrong on our side; please export again.', now)
  })
  work.ended = 'failed'
}

async function tell({ notify, log }: ExportNeeds, { ref, claimed, ended }: Work): Promise<void> {
  const url = claimed?.settings.notifyUrl ?? null
  if (url === null || !ended) return
  await notify(url, { processId: Number(ref.id), status: ended }).catch((error: unknown) => {
    log.warn({ err: error, process: ref.id }, 'telling of the end of an export failed')
  })
}

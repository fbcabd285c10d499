// Writes exports, a page of contacts at a time. A page and the marker behind it commit together, so whoever goes on
// after a kill, here or in another process, goes on exactly there; no more than a page is ever in memory.
import { randomBytes } from 'node:crypto'
import type { Db } from '../../../kernel/db.ts'
import type { Log } from '../../../kernel/log.ts'
import { isDatabaseDown } from '../../../kernel/refusals.ts'
import { calculatorOf } from '../attributes/calculate.ts'
import { type ContactFilter, listContacts } from '../contacts/queries.ts'
import type { ContactRow } from '../contacts/row-queries.ts'
import { failProcess, type ProcessRef, postponeProcess } from '../import/process-queries.ts'
import type { ImportNeeds } from '../import/work-imports.ts'
import { findSegment } from '../segments/queries.ts'
import { conditionOf } from '../segments/write-segment.ts'
import { contactLine, headingOf } from './csv.ts'
import {
  addPage,
  type ClaimedExport,
  claimExport,
  deletePages,
  type ExportFilter,
  holdForExport,
  nextExport,
} from './queries.ts'

export type ExportNeeds = { db: Db; log: Log; notify: ImportNeeds['notify'] }

// So that a stopping process does not wait for a long file; the job comes back at once.
const pagesInTurn = 50
const contactsInPage = 1_000
const mostAttempts = 5
const restMs = 30_000

/** Not to be called inside a transaction: each page has its own. */
export async function workExports(needs: ExportNeeds, now: Date): Promise<void> {
  for (let page = 0; page < pagesInTurn; page++) if (!(await workPage(needs, now))) return
}

/** False when there is nothing to do. */
export async function workPage(needs: ExportNeeds, now: Date): Promise<boolean> {
  const next = await nextExport(needs.db, now)
  if (!next) return false
  const ref = { accountId: next.account_id, id: next.id }
  const work: Work = { ref, now }
  try {
    await needs.db.transaction((tx) => writePage(tx, work))
  } catch (error) {
    if (isDatabaseDown(error)) throw error
    needs.log.error({ err: error, process: ref.id }, 'a page of an export failed')
    await restOrFail(needs.db, work)
  }
  await tell(needs, work)
  return work.claimed !== undefined
}

type Work = { ref: ProcessRef; now: Date; claimed?: ClaimedExport; ended?: 'completed' | 'failed' }

async function writePage(db: Db, work: Work): Promise<void> {
  const { ref, now } = work
  await holdForExport(db, ref.accountId)
  const claimed = await claimExport(db, ref)
  Object.assign(work, { claimed, ended: undefined })
  if (!claimed) return
  const { columns, filter } = claimed.settings
  const contacts = await listContacts(db, ref.accountId, await filterOf(db, ref.accountId, filter), {
    after: claimed.last_contact_id,
    offset: 0,
    limit: contactsInPage,
    ascending: true,
  })
  const calculate = await calculatorOf(db, ref.accountId, now)
  const line = (contact: ContactRow) =>
    contactLine(columns, { ...contact, attributes: calculate(contact.attributes) })
  const isLast = contacts.length < contactsInPage
  const heading = claimed.next_chunk === 0 ? headingOf(columns) : ''
  const page = {
    csv: heading + contacts.map(line).join(''),
    lastContactId: contacts.at(-1)?.id ?? claimed.last_contact_id,
    contacts: contacts.length,
    fileToken: isLast ? randomBytes(32).toString('base64url') : null,
  }
  await addPage(db, ref, page, now)
  if (isLast) work.ended = 'completed'
}

/** A list or segment that is gone meanwhile has nobody. */
async function filterOf(db: Db, accountId: string, filter: ExportFilter): Promise<ContactFilter> {
  const { listId, segmentId, status, leftListId } = filter
  const segment = segmentId === undefined ? undefined : await findSegment(db, accountId, segmentId)
  const isGone = segmentId !== undefined && !segment
  return {
    status,
    leftListId,
    ...(listId === undefined ? {} : { listIds: [listId] }),
    ...(segment && { segment: conditionOf(segment) }),
    ...(isGone && { ids: [] }),
  }
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

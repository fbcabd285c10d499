// The lines of a contact export.
import type { Db } from '../../../kernel/db.ts'
import { calculatorOf } from '../attributes/calculate.ts'
import { type ContactFilter, listContacts } from '../contacts/queries.ts'
import { findSegment } from '../segments/queries.ts'
import { membersOf } from '../segments/write-segment.ts'
import { contactLine } from './csv.ts'
import type { ExportFilter } from './queries.ts'
import type { ReadFrom, ReadPage } from './work-exports.ts'

const contactsInPage = 1_000

export async function readContacts(db: Db, from: ReadFrom<ExportFilter>): Promise<ReadPage> {
  const { accountId, settings, readTo, now } = from
  const filter = await filterOf(db, accountId, settings.filter)
  const slice = { after: readTo ?? undefined, offset: 0, limit: contactsInPage, ascending: true }
  const contacts = await listContacts(db, accountId, filter, slice)
  const calculate = await calculatorOf(db, accountId, now)
  return {
    lines: contacts.map((contact) => {
      const whole = { ...contact, attributes: calculate(contact.attributes) }
      return contactLine(settings.columns, whole, settings.attributes)
    }),
    readTo: contacts.at(-1)?.id ?? readTo,
    isLast: contacts.length < contactsInPage,
  }
}

/** A list or segment that is gone meanwhile has nobody. */
async function filterOf(db: Db, accountId: string, filter: ExportFilter): Promise<ContactFilter> {
  const { listId, segmentId, status, leftListId } = filter
  const segment = segmentId === undefined ? undefined : await findSegment(db, accountId, segmentId)
  const isGone = segmentId !== undefined && !segment
  return {
    leftListId,
    ...(status && { isBlacklisted: status === 'unsubscribed' }),
    ...(listId === undefined ? {} : { listIds: [listId] }),
    ...(segment && { segment: membersOf(segment) }),
    ...(isGone && { ids: [] }),
  }
}

// The lines of an export of a campaign's recipients.
import type { Db } from '../../../kernel/db.ts'
import { calculatorOf } from '../../contacts/attributes/calculate.ts'
import { attributeCell, type Cell, lineOf } from '../../contacts/export/csv.ts'
import type { ReadFrom, ReadPage } from '../../contacts/export/work-exports.ts'
import type { Counted } from '../../messages/counts/read-counts.ts'
import { type RecipientsType, seenOf, statusesOf } from './kinds.ts'
import { listSpan, listWanted, type WantedRow } from './queries.ts'

/** Which opens and clicks count is settled when the export is asked for, so that a file is of one piece. */
export type RecipientFilter = { campaignId: string; recipientsType: RecipientsType; counted: Counted }

// Attributes are in capitals, so that none is called like these.
export const addressColumn = 'Email_ID'
export const reasonColumn = 'Reason'

/** Looked at, however few of them are wanted: a page costs the same wherever it is. */
const messagesInPage = 2_000

export async function readRecipients(db: Db, from: ReadFrom<RecipientFilter>): Promise<ReadPage> {
  const { accountId, settings, readTo, now } = from
  const { campaignId, recipientsType, counted } = settings.filter
  const span = { statuses: statusesOf(recipientsType), after: readTo, limit: messagesInPage }
  const ids = (await listSpan(db, { accountId, campaignId }, span)).map(({ id }) => id)
  const found = await listWanted(db, accountId, ids, seenOf(recipientsType, counted))
  const calculate = await calculatorOf(db, accountId, now)
  return {
    lines: found.map((one) => {
      const attributes = one.attributes && calculate(one.attributes)
      return recipientLine(settings.columns, { ...one, attributes })
    }),
    readTo: ids.at(-1) ?? readTo,
    isLast: ids.length < messagesInPage,
  }
}

function recipientLine(columns: string[], { recipient, sms, attributes, reason }: WantedRow): string {
  const own: Record<string, Cell> = { [addressColumn]: recipient, SMS: sms, [reasonColumn]: reason }
  return lineOf(
    columns.map((name) => (Object.hasOwn(own, name) ? own[name] : attributeCell(attributes?.[name]))),
  )
}

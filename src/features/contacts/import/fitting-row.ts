// A row without the values that do not fit: for copies, where the rest of a contact matters more than one value of it.
import type { GivenRow } from './given-rows.ts'
import { type ReadOptions, RowFault, readRow } from './read-row.ts'

export type FittingRow = { row: GivenRow; faults: string[] }

const fields = ['extId', 'sms', 'consentDate', 'consentSource'] as const

/** `faults`: of the values that it is without. A row that cannot be kept even so stays as it is. */
export function fittingRow(row: GivenRow, options: ReadOptions): FittingRow {
  if (faultOf(row, options) === undefined) return { row, faults: [] }
  const kept: GivenRow = { ...row, attributes: { ...row.attributes } }
  const faults: string[] = []
  const isMisfit = (piece: Partial<GivenRow>) => {
    const fault = faultOf({ line: row.line, email: somebody, attributes: {}, ...piece }, options)
    if (fault !== undefined) faults.push(fault)
    return fault !== undefined
  }
  for (const [name, value] of Object.entries(row.attributes))
    if (isMisfit({ attributes: { [name]: value } })) delete kept.attributes[name]
  for (const field of fields) if (isMisfit({ [field]: row[field] })) delete kept[field]
  return faultOf(kept, options) === undefined ? { row: kept, faults } : { row, faults: [] }
}

// Each value is looked at by itself, as that of a contact with an address.
const somebody = 'somebody@example.com'

function faultOf(row: GivenRow, options: ReadOptions): string | undefined {
  try {
    readRow(row, options)
    return undefined
  } catch (error) {
    if (error instanceof RowFault) return error.message
    throw error
  }
}

// Lines of an export: separated by semicolons, as the provider's files are, and harmless when a spreadsheet opens them.
import { type Value, writeList } from '../attributes/values.ts'
import { type ContactRow, isBlacklisted } from '../contacts/row-queries.ts'

/** What a column is called and what stands in it. */
export type Cell = string | number | boolean | null | undefined

const ownCells: Record<string, (contact: ContactRow) => Cell> = {
  CONTACT_ID: ({ id }) => Number(id),
  EMAIL: ({ email }) => email,
  EXT_ID: ({ ext_id }) => ext_id,
  SMS: ({ sms }) => sms,
  STATUS: ({ status }) => status,
  EMAIL_BLACKLISTED: isBlacklisted,
  TAGS: ({ tags }) => tags.join(','),
  LIST_IDS: ({ list_ids }) => list_ids.join(','),
  CONSENT_DATE: ({ consent_date }) => consent_date?.toISOString(),
  CONSENT_SOURCE: ({ consent_source }) => consent_source,
  ADDED_TIME: ({ created_at }) => created_at.toISOString(),
  MODIFIED_TIME: ({ modified_at }) => modified_at.toISOString(),
}

const before = ['CONTACT_ID', 'EMAIL', 'EXT_ID', 'SMS']

// No attribute begins so: an own column is called this way where an attribute has its name.
const aside = '_'

const ownCellOf = (name: string) => {
  const own = name.startsWith(aside) ? name.slice(aside.length) : name
  return Object.hasOwn(ownCells, own) ? ownCells[own] : undefined
}

export const isOwnColumn = (name: string) => ownCellOf(name) !== undefined

/** What own columns are called beside these attributes. */
export const ownColumns = (names: string[], attributes: string[]) =>
  names.map((name) => (attributes.includes(name) ? aside + name : name))

/** All there is, with these attributes. */
export function allColumns(attributes: string[]): string[] {
  const behind = Object.keys(ownCells).filter((name) => !before.includes(name))
  return [...ownColumns(before, attributes), ...attributes, ...ownColumns(behind, attributes)]
}

export function headingOf(columns: string[]): string {
  return lineOf(columns)
}

/** `attributes`: the columns that are attributes although own ones are called so. */
export function contactLine(columns: string[], contact: ContactRow, attributes: string[] = []): string {
  return lineOf(
    columns.map((name) => {
      const own = attributes.includes(name) ? undefined : ownCellOf(name)
      return own ? own(contact) : attributeCell(contact.attributes[name])
    }),
  )
}

export function attributeCell(value: Value | undefined): Cell {
  return Array.isArray(value) ? writeList(value) : value
}

export function lineOf(cells: Cell[]): string {
  return `${cells.map(written).join(';')}\r\n`
}

function written(cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  if (typeof cell !== 'string') return String(cell)
  // A spreadsheet would take it for a formula and run it.
  const text = /^'*[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[";,\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
